import PurchaseQueue

/// A pace: some calls at once, then one in each interval. Pure: the caller passes the moment, in milliseconds of any clock.
///
/// Everything that a callback, a backend or a store can cause has one, so that none of them can make a device work without
/// a pause. A person's own actions are far below it.
package struct CallPace: Hashable, Sendable {
  /// How many calls go at once after a rest.
  package let burst: Int
  /// Milliseconds from one call to the next after that.
  package let interval: Int64
  /// When the burst is whole again; nil before the first call.
  private var rested: Int64?

  package init(burst: Int, interval: Int64) {
    (self.burst, self.interval) = (max(1, burst), max(1, interval))
  }

  /// The most calls that can begin within so many milliseconds.
  package func most(within milliseconds: Int64) -> Int { burst + Int(max(0, milliseconds) / interval) }

  /// How long the next call has to wait: 0 if it may begin now.
  package func wait(at now: Int64) -> Int64 {
    max(0, left(at: now) - interval * Int64(burst - 1))
  }

  /// How long until the burst is whole again. A clock that went back makes no wait longer than its own length.
  private func left(at now: Int64) -> Int64 {
    guard let rested else { return 0 }
    return min(max(0, rested - now), interval * Int64(burst))
  }

  /// The clock went back.
  mutating func follow(_ jump: ClockJump) {
    rested = rested.map { Timestamp(milliseconds: $0).adding(milliseconds: -jump.distance).milliseconds }
  }

  /// Counts a call that begins now. False if it has to wait: then it does not count.
  package mutating func takes(at now: Int64) -> Bool {
    let isFree = wait(at: now) == 0
    rested = now + left(at: now) + (isFree ? interval : 0)
    return isFree
  }
}

extension CallPace {
  /// Requests to try again what `fulfil` has failed to do: by a tap, a sign-in or a foreground.
  package static var fulfilmentRetries: CallPace { CallPace(burst: 10, interval: 10_000) }
  /// Calls that repeat a failed finish of a transaction.
  package static var finishRepeats: CallPace { CallPace(burst: 20, interval: 4_000) }
  /// Calls of `fulfil` for outcomes of which it has failed, until it succeeds: whatever it needs is at fault, not one of them.
  package static var repeatedFulfilments: CallPace { CallPace(burst: 20, interval: 2_000) }
  /// Uploads that begin with an entry whose verdict was not final, while the backend is well: entries that come due within
  /// the pace go together.
  package static var repeatedUploads: CallPace { CallPace(burst: 20, interval: 2_000) }
  /// Lists of the store's unfinished transactions.
  package static var listings: CallPace { CallPace(burst: 10, interval: 5_000) }
  /// Wakes of the engine, for all reasons together. The return from the background is none of them.
  package static var wakes: CallPace { CallPace(burst: 10, interval: 2_000) }
  /// Wakes because one account has new credentials.
  package static var signIns: CallPace { CallPace(burst: 3, interval: 15_000) }
  /// Proofs of one transaction that end its wait at once.
  package static var newProofs: CallPace { CallPace(burst: 2, interval: 3_600_000) }
  /// Releases of one entry from quarantine that a new proof brings at once.
  package static var proofReleases: CallPace { CallPace(burst: 1, interval: 3_600_000) }
  /// Offers of everything that is settled to a backend that names another ledger epoch.
  package static var ledgerOffers: CallPace { CallPace(burst: 3, interval: 3_600_000) }
}
