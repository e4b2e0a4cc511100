import Foundation
import Specification
import Testing

@testable import Exploration

/// The specification of the protocol: what it refuses, and what it allows in its place.
@Suite struct SpecificationTests {
  /// Two purchases that were paid, and arrived on a device whose app runs.
  private static let begun: [ProtocolStep] = [
    .paid(0, for: 0, original: 0), .paid(1, for: nil, original: 1), .launched(0, on: 0, holding: [:]),
    .arrives(0, at: 0), .arrives(1, at: 0),
  ]
  /// The first one is queued and sent.
  private static let sent =
    begun + [
      .queued(0, on: 0, in: .account(0)), .sends(0, by: 0, on: 0, as: .account(0), [claim(0)]), .receives(0),
    ]
  /// And answered.
  private static let answered =
    sent + [.credited(0, to: .account(0), 0), .answers(0, [(0, .granted)])]
  private static let settled = answered + [.hears(0), .settled(0, on: 0, .granted)]

  private static func claim(_ transaction: Int, isProven: Bool = true) -> ProtocolStep.Claim {
    ProtocolStep.Claim(transaction: transaction, isProven: isProven, tellsToken: true, accounts: [])
  }

  /// What may happen before a step, so that it is refused, and so that it is allowed.
  struct Case: CustomTestStringConvertible, Sendable {
    var rule: ProtocolRule
    var step: ProtocolStep
    var refusedAfter: [ProtocolStep]
    var allowedAfter: [ProtocolStep]

    var testDescription: String { rule.rawValue }
  }

  private static func refused(
    _ rule: ProtocolRule, _ step: ProtocolStep, after before: [ProtocolStep], not other: [ProtocolStep]
  ) -> Case {
    Case(rule: rule, step: step, refusedAfter: before, allowedAfter: other)
  }

  static let cases: [Case] = [
    refused(.deliversPaid, .arrives(2, at: 0), after: begun, not: begun + [.paid(2, for: nil, original: 2)]),
    refused(
      .queuesDelivered, .queued(1, on: 0, in: .device(0)), after: Array(begun.dropLast()), not: begun),
    refused(
      .queuesOnce, .queued(0, on: 0, in: .account(0)), after: begun + [.queued(0, on: 0, in: .account(0))],
      not: begun),
    refused(
      .sendsAlive, .sends(1, by: 0, on: 0, as: .account(0), [claim(0)]), after: sent + [.died(0)],
      not: sent + [.died(0), .launched(0, on: 0, holding: [0: .account(0)])]),
    refused(
      .sendsDurable, .sends(0, by: 0, on: 0, as: .device(0), [claim(1)]), after: begun,
      not: begun + [.queued(1, on: 0, in: .device(0))]),
    refused(
      .sendsInItsName, .sends(0, by: 0, on: 0, as: .account(1), [claim(0)]),
      after: begun + [.queued(0, on: 0, in: .account(0))],
      not: begun + [.queued(0, on: 0, in: .account(1))]),
    refused(
      .oneInFlight, .sends(1, by: 0, on: 0, as: .account(0), [claim(0)]), after: sent,
      not: sent + [.ends(0)]),
    refused(.receivesSent, .receives(0), after: begun, not: sent),
    refused(
      .creditsPaid, .credited(0, to: .account(0), 0), after: sent + [.refunded(0, true)],
      not: sent + [.refunded(0, true), .refunded(0, false)]),
    refused(.creditsClaimed, .credited(1, to: .account(0), 0), after: sent, not: both),
    refused(.creditsOnce, .credited(0, to: .account(0), 0), after: answered, not: sent),
    refused(
      .creditsOwner, .credited(1, to: .account(0), 1), after: unnamed(isProven: false, as: .account(0)),
      not: unnamed(isProven: true, as: .account(0))),
    refused(
      .answersDurable, .answers(0, [(0, .granted)]), after: sent,
      not: sent + [.credited(0, to: .account(0), 0)]),
    refused(.hearsAnswered, .hears(0), after: sent, not: answered),
    refused(.hearsInFlight, .hears(0), after: answered + [.ends(0)], not: answered),
    refused(
      .settlesQueued, .settled(0, on: 0, .granted), after: settled, not: answered + [.hears(0)]),
    refused(
      .settlesHeard, .settled(0, on: 0, .granted), after: answered + [.ends(0)], not: answered + [.hears(0)]),
    refused(
      .tellsSettled, .told(0, on: 0, .granted), after: answered + [.hears(0)], not: settled),
    refused(.finishesSettled, .finishes(0, by: 0), after: answered + [.hears(0)], not: settled),
    refused(.finishAfterCredit, .finishedByBackend(0), after: sent, not: answered),
    refused(
      .launchKeeps, .launched(0, on: 0, holding: [:]), after: sent + [.died(0)], not: settled + [.died(0)]),
    refused(
      .launchInvents, .launched(0, on: 0, holding: [1: .device(0)]), after: begun + [.died(0)],
      not: begun + [.queued(1, on: 0, in: .device(0)), .died(0), .reinstalled(0)]),
  ]

  /// One request with both purchases.
  private static let both =
    begun + [
      .queued(0, on: 0, in: .account(0)), .queued(1, on: 0, in: .account(0)),
      .sends(0, by: 0, on: 0, as: .account(0), [claim(0), claim(1)]), .receives(0),
    ]

  /// The purchase without a token, sent alone.
  private static func unnamed(isProven: Bool, as party: ProtocolStep.Party) -> [ProtocolStep] {
    begun + [
      .queued(1, on: 0, in: party), .sends(1, by: 0, on: 0, as: party, [claim(1, isProven: isProven)]),
      .receives(1),
    ]
  }

  private static func judge(_ steps: [ProtocolStep]) -> (place: Int, rule: ProtocolRule)? {
    var specification = PurchaseProtocol()
    for (place, step) in steps.enumerated() {
      do throws(ProtocolRule) { try specification.take(step) } catch { return (place, error) }
    }
    return nil
  }

  @Test(arguments: cases) func `a step that breaks a rule is refused by it, and only there`(_ it: Case) {
    let refused = Self.judge(it.refusedAfter + [it.step])
    #expect(refused?.rule == it.rule && refused?.place == it.refusedAfter.count, "\(it.step.sentence)")
    let allowed = Self.judge(it.allowedAfter + [it.step])
    #expect(allowed == nil, "\(it.step.sentence): \(allowed?.rule.rawValue ?? "")")
  }

  @Test func `the page of the protocol has each rule`() throws {
    let page = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
      .appending(path: "../../Sources/PurchaseSync/PurchaseSync.docc/Protocol.md")
    let text = try String(contentsOf: page, encoding: .utf8)
    for rule in ProtocolRule.allCases {
      #expect(text.contains("| `\(rule)` | \(rule.rawValue) |"), "\(rule)")
    }
  }

  @Test func `each rule refuses something`() {
    #expect(Set(Self.cases.map(\.rule)) == Set(ProtocolRule.allCases))
  }

  @Test func `a token names the owner, and an adoption moves what the device owned`() {
    let token = Self.sent + [.credited(0, to: .account(1), 0)]
    #expect(Self.judge(token)?.rule == .creditsOwner)
    let bought = Self.unnamed(isProven: true, as: .device(0)) + [.credited(1, to: .device(0), 1)]
    let renewed = bought + [.paid(2, for: nil, original: 1), .credited(2, to: .account(0), nil)]
    #expect(Self.judge(renewed)?.rule == .creditsOwner)
    let adopted =
      bought + [
        .adopted(device: 0, by: 0), .paid(2, for: nil, original: 1), .credited(2, to: .account(0), nil),
      ]
    #expect(Self.judge(adopted) == nil)
  }

  @Test func `a ledger from a backup may credit again what it lost, and nothing else`() {
    let again: [ProtocolStep] = [
      .queued(0, on: 0, in: .account(0)), .sends(1, by: 0, on: 0, as: .account(0), [Self.claim(0)]),
      .receives(1), .credited(0, to: .account(0), 1),
    ]
    #expect(Self.judge(Self.settled + [.ledgerRestored([])] + again) == nil)
    #expect(Self.judge(Self.settled + [.ledgerRestored([0])] + again)?.rule == .creditsOnce)
  }
}
