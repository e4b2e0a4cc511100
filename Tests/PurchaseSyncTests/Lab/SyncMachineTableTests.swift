import MemoryModels
import PurchaseQueue
import PurchaseSyncTesting
import Testing

@testable import PurchaseSync

/// Every event in every state of a lane: handled, or a programming error that traps.
@Suite struct SyncMachineTableTests {
  /// The state of alice's lane before the event.
  enum State: String, CaseIterable, Sendable {
    /// The lane is empty.
    case empty
    /// The lane has an entry whose upload failed.
    case waiting
    /// The entry is in flight.
    case sending
    /// The lane's credentials were refused.
    case signInNeeded
  }

  enum Event: String, CaseIterable, Sendable {
    case arrival, redelivery, newProof
    case reply, retry, backendBusy, backendFault, credentialsRefused, proofMissing, laneTaken, interrupted
    case unprepared, unreadable
    case timer, foreground, networkBack, userAsked, signedIn, anotherSignedIn, suspended
    case storeListed, finishEnded, receiptFound, outcomeSeen, adoptionRequested, adoptionEnded
  }

  /// The lane after the event: it *sends* again, is still *out* (in flight), *waits* with its entry, *asks* for a
  /// sign-in, or *rests* because it is empty.
  static let table = """
    event               empty   waiting   sending   signInNeeded
    arrival             sends   waits     out       sends
    redelivery          sends   waits     out       asks
    newProof            sends   waits     out       asks
    reply               traps   traps     rests     traps
    retry               traps   traps     waits     traps
    backendBusy         traps   traps     waits     traps
    backendFault        traps   traps     waits     traps
    credentialsRefused  traps   traps     asks      traps
    proofMissing        traps   traps     waits     traps
    laneTaken           traps   traps     waits     traps
    interrupted         traps   traps     waits     traps
    unprepared          traps   traps     waits     traps
    unreadable          traps   traps     rests     traps
    timer               rests   waits     out       asks
    foreground          rests   waits     out       sends
    networkBack         rests   waits     out       asks
    userAsked           rests   waits     out       sends
    signedIn            rests   waits     out       sends
    anotherSignedIn     rests   waits     out       asks
    suspended           rests   waits     out       asks
    storeListed         rests   waits     out       asks
    finishEnded         rests   waits     out       asks
    receiptFound        rests   waits     out       asks
    outcomeSeen         rests   waits     out       asks
    adoptionRequested   rests   waits     out       asks
    adoptionEnded       rests   waits     out       asks
    """

  static let expected: [String: String] = {
    var cells: [String: String] = [:]
    let rows = table.split(separator: "\n").map { $0.split(separator: " ") }
    for row in rows.dropFirst() {
      for (state, cell) in zip(rows[0].dropFirst(), row.dropFirst()) {
        cells["\(row[0]) \(state)"] = "\(cell)"
      }
    }
    return cells
  }()

  @Test(arguments: Event.allCases, State.allCases)
  func `each event in each state of a lane leads to the state in the table`(event: Event, state: State)
    async throws
  {
    let expected = try #require(Self.expected["\(event) \(state)"])
    guard expected == "traps" else {
      #expect(try Self.outcome(of: event, in: state) == expected)
      return
    }
    #if os(Linux) || os(macOS)
      await #expect(processExitsWith: .failure) {
        [event = event.rawValue as String, state = state.rawValue as String] in
        guard let event = Event(rawValue: event), let state = State(rawValue: state) else { return }
        // An error is no trap: the process ends well then.
        do { _ = try SyncMachineTableTests.outcome(of: event, in: state) } catch {}
      }
    #endif
  }

  /// Another purchase is settled; its finish and an adoption request are in flight. So every event has its subject.
  private static func run(_ state: State) throws -> MachineRun {
    var run = try MachineRun()
    _ = try run.purchase("1")
    _ = try run.claim("carol")
    if state == .empty { return run }
    _ = try run.arrive(bought("100", token: 1))
    switch state {
    case .empty, .sending: break
    case .waiting: _ = try run.fail(alice, .retry(reason: "no answer", retryAfterMilliseconds: nil))
    case .signInNeeded: _ = try run.fail(alice, .signInNeeded)
    }
    return run
  }

  private static func outcome(of event: Event, in state: State) throws -> String {
    var run = try run(state)
    let sent = try perform(event, &run).sent
    if !sent.isEmpty { return "sends" }
    switch run.machine.state(of: alice).activity {
    case .inFlight: return "out"
    case .signInNeeded: return "asks"
    case .idle: return run.storage.lanes().contains(alice) ? "waits" : "rests"
    }
  }

  private static func perform(_ event: Event, _ run: inout MachineRun) throws -> [SyncAction] {
    switch event {
    case .arrival: return try run.arrive(bought("101", token: 2))
    case .redelivery: return try run.arrive(bought("100", token: 1))
    case .newProof: return try run.arrive(bought("100", token: 1, proof: "new"))
    case .reply: return run.reply(["100": .granted])
    case .retry: return try run.fail(alice, .retry(reason: "", retryAfterMilliseconds: nil))
    case .backendBusy: return try run.fail(alice, .backendBusy(reason: "", retryAfterMilliseconds: 1_000))
    case .backendFault: return try run.fail(alice, .backendFault(reason: ""))
    case .credentialsRefused: return try run.fail(alice, .signInNeeded)
    case .proofMissing: return try run.fail(alice, .proofMissing)
    case .laneTaken: return try run.fail(alice, .laneTaken)
    case .interrupted: return try run.fail(alice, .interrupted)
    case .unprepared: return try run.fail(alice, .unprepared(reason: ""))
    case .unreadable: return try run.fail(alice, .unreadable(key("100"), reason: ""))
    case .timer: return run.fire(at: run.now)
    case .foreground: return run.wake(.foreground)
    case .networkBack: return run.wake(.networkBack)
    case .userAsked: return run.wake(.userAsked)
    case .signedIn: return run.wake(.signedIn(account: "alice"))
    case .anotherSignedIn: return run.wake(.signedIn(account: "bob"))
    case .suspended:
      run.machine.suspended()
      return run.fire(at: run.now)
    case .storeListed: return try run.listed([])
    case .finishEnded: return try run.finishEnded(key("1"), .failed)
    case .receiptFound: return try run.proofFound("receipt", for: key("100"))
    case .outcomeSeen: return try run.confirm(key("1"))
    case .adoptionRequested: return try run.claim("dave")
    case .adoptionEnded: return try run.adoptionEnded("carol", .taken)
    }
  }

  // MARK: Illegal orders

  /// Calls that no driver may make.
  enum Mistake: String, CaseIterable, Sendable {
    case secondStart, finishOfNothing, finishEndedTwice, adoptionEndOfNothing, adoptionEndedTwice,
      answeredTwice
    case earlyArrival, earlyListing, earlyTimer, earlyWaking, earlyReceipt, earlyConfirmation, earlyAdoption
    case earlyReply, earlyFailure, earlyFinish, earlyAdoptionEnd
  }

  #if os(Linux) || os(macOS)
    @Test(arguments: Mistake.allCases)
    func `a mistake of the program traps`(mistake: Mistake) async throws {
      await #expect(processExitsWith: .failure) { [mistake = mistake.rawValue as String] in
        guard let mistake = Mistake(rawValue: mistake) else { return }
        do { try SyncMachineTableTests.make(mistake) } catch {}
      }
    }

    /// The same calls without the mistake do not trap, so the mistake is the cause.
    @Test(arguments: Mistake.allCases) func `the calls before the mistake do not trap`(mistake: Mistake)
      throws
    {
      try Self.make(mistake, stopsBefore: true)
    }
  #endif

  private static func make(_ mistake: Mistake, stopsBefore: Bool = false) throws {
    let isEarly = mistake.rawValue.hasPrefix("early")
    var run = try MachineRun(isStarted: !isEarly)
    switch mistake {
    case .finishEndedTwice:
      _ = try run.purchase("100", token: 1)
      _ = try run.finishEnded(key("100"), .finished)
    case .adoptionEndedTwice:
      _ = try run.claim("alice")
      _ = try run.adoptionEnded("alice", .failed(.interrupted))
    case .answeredTwice: _ = try run.purchase("100", token: 1)
    default: break
    }
    if stopsBefore { return }
    switch mistake {
    case .secondStart: _ = try run.started()
    case .finishOfNothing, .finishEndedTwice, .earlyFinish: _ = try run.finishEnded(key("100"), .finished)
    case .adoptionEndOfNothing, .adoptionEndedTwice, .earlyAdoptionEnd:
      _ = try run.adoptionEnded("alice", .taken)
    case .answeredTwice, .earlyReply: _ = run.reply(["100": .granted])
    case .earlyFailure: _ = try run.fail(alice, .interrupted)
    case .earlyArrival: _ = try run.arrive(bought("100"))
    case .earlyListing: _ = try run.listed([])
    case .earlyTimer: _ = run.fire()
    case .earlyWaking: _ = run.wake(.foreground)
    case .earlyReceipt: _ = try run.proofFound("receipt", for: key("100"))
    case .earlyConfirmation: _ = try run.confirm(key("100"))
    case .earlyAdoption: _ = try run.claim("alice")
    }
  }
}
