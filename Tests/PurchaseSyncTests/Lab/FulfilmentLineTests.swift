import AppStoreReceipts
import Foundation
import PurchaseQueue
import PurchaseSyncTesting
import TestSupport
import Testing

@testable import PurchaseSync

/// The line of outcomes that an app gets, without an app.
@Suite struct FulfilmentLineTests {
  private let start = ContinuousClock.now
  private let grant = Self.outcome("1", .granted)
  private let refund = Self.outcome("1", .refunded, at: 2)
  private let other = Self.outcome("2", .granted)

  private static func outcome(_ id: String, _ verdict: Verdict, at seconds: Double = 1) -> Outcome {
    let transaction = StoreTransaction(
      environment: .production, transactionID: id, originalTransactionID: id, productID: "gems", quantity: 1,
      purchasedAt: Timestamp(milliseconds: 0), accountToken: nil,
      proof: Payload(kind: ProofKind.signedTransaction.rawValue, bytes: []))
    return Outcome(
      of: transaction, verdict, account: "alice", settledAt: Date(timeIntervalSince1970: seconds))
  }

  @Test func `an outcome that comes twice is given once, also after its confirmation`() {
    var line = FulfilmentLine()
    line.received(grant)
    line.received(grant)
    #expect(line.next(at: start) == .fulfil(grant))
    line.fulfilled(grant)
    #expect(line.next(at: start) == .confirm(grant))
    line.confirmed(grant)
    line.received(grant)
    #expect(line.next(at: start) == nil && line.isEmpty && line.isConfirmed(grant))
  }

  @Test func `a refund that arrives while its credit is under way is given after it`() {
    var line = FulfilmentLine()
    line.received(grant)
    line.received(refund)
    line.fulfilled(grant)
    #expect(line.next(at: start) == .fulfil(refund))
    line.confirmed(grant)
    #expect(line.next(at: start) == .fulfil(refund))
  }

  @Test func `a newer outcome of a transaction whose fulfil fails keeps its pause`() {
    var line = FulfilmentLine()
    line.received(grant)
    line.begin(grant, isFulfilling: true, at: start)
    line.failed(grant, "its server does not answer", at: start)
    line.received(refund)
    #expect(line.next(at: start) == .wait(until: start + FulfilmentLine.firstPause))
    #expect(line.problem != nil)
    #expect(line.next(at: start + FulfilmentLine.firstPause) == .fulfil(refund))
  }

  @Test func `a refund after its confirmed credit is given`() {
    var line = FulfilmentLine()
    line.received(grant)
    line.fulfilled(grant)
    line.confirmed(grant)
    line.received(refund)
    #expect(line.next(at: start) == .fulfil(refund))
  }

  @Test(arguments: [false, true])
  func `a list that was read before a refund was heard does not bring its credit back`(isConfirmed: Bool) {
    var line = FulfilmentLine()
    let moment = line.version
    line.received(refund)
    if isConfirmed {
      line.fulfilled(refund)
      line.confirmed(refund)
    }
    line.merge([grant, other], takenAt: moment)
    if !isConfirmed {
      #expect(line.next(at: start) == .fulfil(refund))
      line.fulfilled(refund)
      line.confirmed(refund)
    }
    #expect(line.next(at: start) == .fulfil(other))
  }

  /// Plays the shop for so long, with a `fulfil` that fails or not. Returns the moments of its calls, in milliseconds.
  private func calls(
    of line: inout FulfilmentLine, from begin: Duration, for length: Duration, failing: Bool
  ) -> [Int64] {
    var (now, moments) = (start + begin, [Int64]())
    while now <= start + begin + length, moments.count < 10_000, let step = line.next(at: now) {
      switch step {
      case .fulfil(let outcome):
        moments.append(start.duration(to: now).wholeMilliseconds)
        line.begin(outcome, isFulfilling: true, at: now)
        if failing { line.failed(outcome, "a test", at: now) } else { line.fulfilled(outcome) }
      case .confirm(let outcome): line.confirmed(outcome)
      case .wait(let moment): now = max(moment, now + .milliseconds(1))
      }
    }
    return moments
  }

  @Test(arguments: [1, 30, 200])
  func `outcomes that fail share a pace, however many they are, and all come once one succeeds`(count: Int) {
    var line = FulfilmentLine()
    for number in 1...count { line.received(Self.outcome("\(number)", .granted)) }
    let failed = calls(of: &line, from: .zero, for: .seconds(3_600), failing: true)
    // Each has its first call at once.
    let repeated = failed.dropFirst(count)
    let most = repeated.indices.map { first in
      repeated[first...].prefix { $0 < repeated[first] + 60_000 }.count
    }.max()
    #expect((most ?? 0) <= 50)
    #expect(!repeated.isEmpty)
    // Within the longest pause one of them is tried.
    let done = calls(of: &line, from: .seconds(3_601), for: .seconds(300), failing: false)
    #expect(done.count == count)
    #expect(line.isEmpty)
  }

  @Test func `outcomes that always fail keep no other one from its next call`() {
    var (line, now) = (FulfilmentLine(), start)
    let count = LongTests.count(short: 100, long: 400)
    for number in 1...count { line.received(Self.outcome("\(number)", .granted)) }
    _ = calls(of: &line, from: .zero, for: .seconds(3_600), failing: true)
    now += .seconds(3_601)
    let last = Self.outcome("\(count + 1)", .granted)
    line.received(last)
    #expect(line.next(at: now) == .fulfil(last))
    line.begin(last, isFulfilling: true, at: now)
    line.failed(last, "a test", at: now)
    var tries = 0
    for _ in 0..<3_600 {
      now += .seconds(1)
      guard case .fulfil(let outcome) = line.next(at: now) else { continue }
      tries += outcome == last ? 1 : 0
      line.begin(outcome, isFulfilling: true, at: now)
      line.failed(outcome, "a test", at: now)
    }
    #expect(tries >= 4)
  }

  @Test func `a list tells what no event told`() {
    var line = FulfilmentLine()
    line.received(grant)
    line.fulfilled(grant)
    line.confirmed(grant)
    line.merge([refund], takenAt: line.version)
    #expect(line.next(at: start) == .fulfil(refund))
  }

  @Test func `a problem is shown until its own outcome is fulfilled`() {
    var line = FulfilmentLine()
    line.received(grant)
    line.received(other)
    line.failed(grant, "no disk", at: start)
    line.fulfilled(other)
    line.confirmed(other)
    #expect(line.problem == "no disk")
    line.fulfilled(grant)
    #expect(line.problem == nil)
  }

  @Test func `an outcome that fails neither holds up the next one nor is forgotten`() {
    var line = FulfilmentLine()
    line.received(grant)
    line.received(other)
    line.failed(grant, "no disk", at: start)
    #expect(line.next(at: start) == .fulfil(other))
    line.fulfilled(other)
    line.confirmed(other)
    let due = start.advanced(by: FulfilmentLine.firstPause)
    #expect(line.next(at: start) == .wait(until: due) && !line.isEmpty)
    #expect(line.next(at: due) == .fulfil(grant))
  }

  @Test func `the pauses after failures double up to their bound`() {
    var (line, now, pauses) = (FulfilmentLine(), start, [Duration]())
    line.received(grant)
    for _ in 1...12 {
      line.failed(grant, "no disk", at: now)
      guard case .wait(let until) = line.next(at: now) else { break }
      pauses.append(now.duration(to: until))
      now = until
    }
    let seconds = [1, 2, 4, 8, 16, 32, 64, 128, 256, 300, 300, 300]
    #expect(pauses == seconds.map { .seconds($0) })
  }

  @Test func `a confirmation that fails is repeated without another credit`() {
    var line = FulfilmentLine()
    line.received(grant)
    line.fulfilled(grant)
    line.failed(grant, "no disk", at: start)
    line.received(grant)
    line.tryAgain(at: start)
    #expect(line.next(at: start.advanced(by: FulfilmentLine.firstPause)) == .confirm(grant))
  }

  @Test func `the memory of confirmed outcomes is bounded`() {
    var line = FulfilmentLine()
    for number in 0...FulfilmentLine.memory {
      let outcome = Self.outcome("\(number)", .granted)
      line.received(outcome)
      line.fulfilled(outcome)
      line.confirmed(outcome)
    }
    #expect(!line.isConfirmed(Self.outcome("0", .granted)))
    #expect(line.isConfirmed(Self.outcome("\(FulfilmentLine.memory)", .granted)))
  }

  // MARK: Late calls

  @Test func `calls go one at a time while each returns in time`() {
    var line = FulfilmentLine(limit: .seconds(10))
    for outcome in [grant, other] { line.received(outcome) }
    line.begin(grant, isFulfilling: true, at: start)
    #expect(line.next(at: start) == .wait(until: start.advanced(by: .seconds(10))))
    #expect(line.isBusy(at: start))
    line.fulfilled(grant)
    line.confirmed(grant)
    #expect(line.next(at: start) == .fulfil(other))
  }

  @Test func `next to a late call some others go side by side, and never one of its own transaction`() {
    var line = FulfilmentLine(limit: .seconds(10))
    line.received(grant)
    for number in 2...20 { line.received(Self.outcome("\(number)", .granted)) }
    line.begin(grant, isFulfilling: true, at: start)
    line.received(refund)
    let late = start.advanced(by: .seconds(10))
    var began: [Outcome] = []
    while case .fulfil(let outcome)? = line.next(at: late) {
      began.append(outcome)
      line.begin(outcome, isFulfilling: true, at: late)
    }
    #expect(began.count == FulfilmentLine.sideBySide)
    #expect(began.allSatisfy { $0.key != grant.key })
    #expect(line.late(at: late).map(\.key) == [grant.key])
    line.fulfilled(grant)
    #expect(line.late(at: late).isEmpty)
  }

  @Test func `a late call that is all that is left keeps nothing busy`() {
    var line = FulfilmentLine(limit: .seconds(10))
    line.received(grant)
    line.begin(grant, isFulfilling: true, at: start)
    let late = start.advanced(by: .seconds(10))
    #expect(!line.isBusy(at: late))
    #expect(line.next(at: late) == nil)
    #expect(!line.isEmpty)
  }

  @Test func `ten taps try at once what has failed, and a tap without end has a pace`() {
    var (line, now, tries) = (FulfilmentLine(), start, 0)
    line.received(grant)
    for _ in 0..<6_000 {
      line.tryAgain(at: now)
      if line.next(at: now) == .fulfil(grant) {
        line.begin(grant, isFulfilling: true, at: now)
        line.failed(grant, "no disk", at: now)
        tries += 1
        if now < start.advanced(by: .seconds(9)) { #expect(start.duration(to: now) <= .seconds(tries)) }
      }
      now = now.advanced(by: .milliseconds(10))
    }
    // Six come by their own pauses.
    #expect(tries <= CallPace.fulfilmentRetries.most(within: 60_000) + 6)
  }

  // MARK: Calls and restores

  @Test func `a call is under way until it returns, and a confirmation is none`() {
    var line = FulfilmentLine()
    line.received(grant)
    let call = line.begin(grant, isFulfilling: true, at: start)
    #expect(line.isUnderWay(call))
    line.fulfilled(grant)
    let confirmation = line.begin(grant, isFulfilling: false, at: start)
    #expect(!line.isUnderWay(call))
    #expect(!line.isUnderWay(confirmation))
  }

  @Test func `a restore finds what is fulfilled while it is under way, and not what comes later`() {
    var line = FulfilmentLine()
    let (one, other) = (line.beginRestore(), line.beginRestore())
    line.fulfilled(grant)
    let found = line.endRestore(one)
    #expect(found == [grant])
    line.fulfilled(refund)
    let all = line.endRestore(other)
    #expect(all == [grant, refund])
  }
}
