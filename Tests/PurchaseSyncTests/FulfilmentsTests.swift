import AppStoreReceipts
import Foundation
import PurchaseQueue
import PurchaseSyncTesting
import Testing

@testable import PurchaseSync

/// The line of outcomes that an app gets, without an app.
@Suite struct FulfilmentsTests {
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
    var line = Fulfilments()
    line.heard(grant)
    line.heard(grant)
    #expect(line.next(at: start) == .fulfil(grant))
    line.fulfilled(grant)
    #expect(line.next(at: start) == .confirm(grant))
    line.confirmed(grant)
    line.heard(grant)
    #expect(line.next(at: start) == nil && line.isEmpty && line.isConfirmed(grant))
  }

  @Test func `a refund that arrives while its credit is under way is given after it`() {
    var line = Fulfilments()
    line.heard(grant)
    line.heard(refund)
    line.fulfilled(grant)
    #expect(line.next(at: start) == .fulfil(refund))
    line.confirmed(grant)
    #expect(line.next(at: start) == .fulfil(refund))
  }

  @Test func `a refund after its confirmed credit is given`() {
    var line = Fulfilments()
    line.heard(grant)
    line.fulfilled(grant)
    line.confirmed(grant)
    line.heard(refund)
    #expect(line.next(at: start) == .fulfil(refund))
  }

  @Test(arguments: [false, true])
  func `a list that was read before a refund was heard does not bring its credit back`(isConfirmed: Bool) {
    var line = Fulfilments()
    let moment = line.version
    line.heard(refund)
    if isConfirmed {
      line.fulfilled(refund)
      line.confirmed(refund)
    }
    line.read([grant, other], asOf: moment)
    if !isConfirmed {
      #expect(line.next(at: start) == .fulfil(refund))
      line.fulfilled(refund)
      line.confirmed(refund)
    }
    #expect(line.next(at: start) == .fulfil(other))
  }

  @Test func `a list tells what no event told`() {
    var line = Fulfilments()
    line.heard(grant)
    line.fulfilled(grant)
    line.confirmed(grant)
    line.read([refund], asOf: line.version)
    #expect(line.next(at: start) == .fulfil(refund))
  }

  @Test func `a problem is shown until its own outcome is fulfilled`() {
    var line = Fulfilments()
    line.heard(grant)
    line.heard(other)
    line.failed(grant, "no disk", at: start)
    line.fulfilled(other)
    line.confirmed(other)
    #expect(line.problem == "no disk")
    line.fulfilled(grant)
    #expect(line.problem == nil)
  }

  @Test func `an outcome that fails neither holds up the next one nor is forgotten`() {
    var line = Fulfilments()
    line.heard(grant)
    line.heard(other)
    line.failed(grant, "no disk", at: start)
    #expect(line.next(at: start) == .fulfil(other))
    line.fulfilled(other)
    line.confirmed(other)
    let due = start.advanced(by: Fulfilments.firstPause)
    #expect(line.next(at: start) == .wait(until: due) && !line.isEmpty)
    #expect(line.next(at: due) == .fulfil(grant))
  }

  @Test func `the pauses after failures double up to their bound`() {
    var (line, now, pauses) = (Fulfilments(), start, [Duration]())
    line.heard(grant)
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
    var line = Fulfilments()
    line.heard(grant)
    line.fulfilled(grant)
    line.failed(grant, "no disk", at: start)
    line.heard(grant)
    line.tryAgain()
    #expect(line.next(at: start) == .confirm(grant))
  }

  @Test func `the memory of confirmed outcomes is bounded`() {
    var line = Fulfilments()
    for number in 0...Fulfilments.memory {
      let outcome = Self.outcome("\(number)", .granted)
      line.heard(outcome)
      line.fulfilled(outcome)
      line.confirmed(outcome)
    }
    #expect(!line.isConfirmed(Self.outcome("0", .granted)))
    #expect(line.isConfirmed(Self.outcome("\(Fulfilments.memory)", .granted)))
  }
}
