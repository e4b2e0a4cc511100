import Foundation
import Specification
import Testing

@testable import purchase_simulator

/// Traces of processes: which the specification accepts, and what a kill may hide in them.
@Suite struct StepJudgeTests {
  private static let (app, parent, backend, `extension`): (Int32, Int32, Int32, Int32) = (10, 1, 2, 11)
  private static let token = UUID()
  private static let empty = FileChange(all: FileWatch.Content())

  private static func line(_ process: Int32, _ event: StepEvent) -> StepLine {
    StepLine(by: process, event: event)
  }

  /// The file has an entry in alice's lane, or it was settled as granted.
  private static func file(queued: [String] = [], granted: [String] = [], isWhole: Bool = false) -> FileChange
  {
    var content = FileWatch.Content()
    for (place, id) in queued.enumerated() {
      content.rows["Production/" + id] = FileWatch.Row(place: Int64(place), lane: "account:alice")
    }
    for id in granted { content.stones["Production/" + id] = FileWatch.Stone(outcome: "granted") }
    var change = FileChange(all: content)
    change.isWhole = isWhole
    for id in granted { change.rows["Production/" + id] = .some(nil) }
    return change
  }

  private static let bought = [
    line(app, .launched(phone: "phone", empty)),
    line(backend, .ordered(number: "order-1", token: token, account: "alice")),
    line(parent, .paid("7", token: token, original: "7")), line(app, .arrives(["7"], phone: "phone")),
  ]
  private static let queued = bought + [line(app, .committed(phone: "phone", file(queued: ["7"])))]
  private static let sent = queued + [sends("10.1", app)]
  private static let answered =
    sent + [
      line(backend, .receives("10.1")),
      line(backend, .credited(sequence: 0, "7", owner: "account:alice")),
      line(backend, .answers("10.1", [StepVerdict(transaction: "7", verdict: "granted")])),
    ]
  private static let heard = answered + [line(app, .hears("10.1"))]
  private static let settles = line(app, .committed(phone: "phone", file(granted: ["7"])))
  private static let finishes = line(app, .finishes(["7"], phone: "phone"))

  private static func sends(_ name: String, _ process: Int32) -> StepLine {
    let claim = StepClaim(transaction: "7", isProven: true, tellsToken: true, orders: ["order-1"])
    return line(process, .sends(name, phone: "phone", lane: "account:alice", [claim]))
  }

  private static func died(_ process: Int32 = app, killed: Bool, _ file: FileChange?) -> StepLine {
    line(parent, .died(process, wasKilled: killed, phone: "phone", file))
  }

  private func judge(_ lines: [StepLine], and texts: [String] = []) throws -> String? {
    StepJudge.judge(
      try lines.map { String(decoding: try JSONEncoder().encode($0), as: UTF8.self) } + texts
    ).refusal
  }

  private func expect(_ lines: [StepLine], refusedBy rule: ProtocolRule) throws {
    let words = try #require(try judge(lines))
    #expect(words.contains("Refused: \(rule.rawValue) (line \(lines.count) of its trace)"), "\(words)")
  }

  @Test func `a purchase from the charge to the finish is accepted`() throws {
    let told = Self.line(Self.app, .told("7", phone: "phone", verdict: "granted"))
    let end = Self.died(killed: false, Self.file(granted: ["7"], isWhole: true))
    #expect(try judge(Self.heard + [Self.settles, told, Self.finishes, end]) == nil)
  }

  @Test func `a step before the one that it needs is refused in words`() throws {
    try expect(Self.heard + [Self.finishes], refusedBy: .finishesSettled)
    try expect(Self.answered + [Self.settles], refusedBy: .settlesHeard)
    try expect(Self.bought + [Self.sends("10.1", Self.app)], refusedBy: .sendsDurable)
    try expect(Self.sent + [Self.sends("10.2", Self.app)], refusedBy: .oneInFlight)
    try expect(Self.sent + [Self.line(Self.app, .hears("10.1"))], refusedBy: .hearsAnswered)
    let words = try #require(try judge(Self.heard + [Self.finishes]))
    #expect(words.hasPrefix("device 1 finishes 1. Refused: a device finishes only what is settled"))
    #expect(words.contains("1 is 7"))
  }

  @Test func `a line of the ledger is given to the request that claims it, and two lines are refused`() throws
  {
    let again = Self.line(Self.backend, .credited(sequence: 1, "7", owner: "account:alice"))
    try expect(Self.answered + [again], refusedBy: .creditsOnce)
    // A new process of the backend says what it finds.
    let found = Self.line(3, .credited(sequence: 0, "7", owner: "account:alice"))
    #expect(try judge(Self.answered + [found]) == nil)
    let stranger = Self.line(Self.backend, .credited(sequence: 0, "7", owner: "account:bob"))
    try expect(Self.sent + [Self.line(Self.backend, .receives("10.1")), stranger], refusedBy: .creditsOwner)
  }

  @Test func `what a kill hid is filled in from the file`() throws {
    let later = Self.line(12, .launched(phone: "phone", Self.file(granted: ["7"], isWhole: true)))
    let after = [later, Self.line(12, .finishes(["7"], phone: "phone"))]
    // Settled, and killed before the line.
    let settled = Self.died(killed: true, Self.file(granted: ["7"], isWhole: true))
    #expect(try judge(Self.heard + [settled] + after) == nil)
    // Queued, and killed before the line.
    let queued = Self.died(killed: true, Self.file(queued: ["7"], isWhole: true))
    let found = Self.line(12, .launched(phone: "phone", Self.file(queued: ["7"], isWhole: true)))
    #expect(try judge(Self.bought + [queued, found]) == nil)
    // Given back by the vault, and killed before the line.
    let deleted = Self.line(Self.parent, .reinstalled(phone: "phone"))
    let begun = Self.line(12, .launched(phone: "phone", Self.empty))
    let back = Self.died(12, killed: true, Self.file(queued: ["7"], isWhole: true))
    #expect(try judge(Self.queued + [queued, deleted, begun, back]) == nil)
  }

  @Test func `what no kill can hide is refused`() throws {
    // Settled, and nothing was received.
    try expect(
      Self.answered + [Self.died(killed: true, Self.file(granted: ["7"], isWhole: true))],
      refusedBy: .settlesHeard)
    // Gone from the file, and not settled.
    try expect(Self.queued + [Self.died(killed: true, Self.empty)], refusedBy: .settlesHeard)
    // Gone at the next launch.
    let dead = Self.died(killed: true, Self.file(queued: ["7"], isWhole: true))
    try expect(
      Self.queued + [dead, Self.line(12, .launched(phone: "phone", Self.empty))], refusedBy: .launchKeeps)
    // In the file, and never handed to the device.
    try expect(
      Array(Self.bought.dropLast()) + [Self.died(killed: true, Self.file(queued: ["7"], isWhole: true))],
      refusedBy: .launchInvents)
    // Not killed: each commit has its line.
    let ended = Self.died(killed: false, Self.file(granted: ["7"], isWhole: true))
    #expect(try judge(Self.heard + [ended])?.contains("commits that it did not note") == true)
  }

  @Test func `a killed process holds its lane until its death or its parent's line, whichever serves`() throws
  {
    let beside = [
      Self.line(Self.extension, .launched(phone: "phone", Self.file(queued: ["7"], isWhole: true)))
    ]
    let other = Self.sends("11.1", Self.extension)
    let file = Self.file(queued: ["7"], isWhole: true)
    #expect(try judge(Self.sent + beside + [other, Self.died(killed: true, file)]) == nil)
    try expect(Self.sent + beside + [other], refusedBy: .oneInFlight)
    // It was alive after the other one sent.
    let alive = Self.line(Self.app, .arrives(["7"], phone: "phone"))
    let words = try judge(Self.sent + beside + [other, alive, Self.died(killed: true, file)])
    #expect(words?.contains(ProtocolRule.oneInFlight.rawValue) == true)
  }

  @Test func `what another process has just settled may be on its way out`() throws {
    let beside = Self.line(
      Self.extension, .launched(phone: "phone", Self.file(queued: ["7"], isWhole: true)))
    let late = Self.sends("11.1", Self.extension)
    #expect(try judge(Self.heard + [beside, Self.settles, late]) == nil)
    try expect(Self.heard + [Self.settles, Self.sends("10.2", Self.app)], refusedBy: .sendsDurable)
  }

  @Test func `a kill may cut a line off, and garbage is none of a trace`() throws {
    let dead = Self.died(killed: true, Self.file(queued: ["7"], isWhole: true))
    #expect(try judge(Self.queued + [dead], and: [#"{"by":10,"event":{"se"#]) == nil)
    #expect(
      try judge(Self.queued, and: [#"{"by":10,"event":{"se"#])?.contains("is no line of a trace") == true)
    #expect(try judge(Self.queued + [dead], and: ["x", "\u{0}"])?.contains("is no line of a trace") == true)
    let unsent = try judge(Self.queued + [Self.line(Self.backend, .receives("10.9"))])
    #expect(unsent?.contains("the request 10.9 was not sent") == true)
    #expect(try judge([]) == nil)
  }
}
