import Foundation
import PurchaseQueue
import PurchaseSync

/// A world around the real engine: its store, its backend, its apps and what happens to them, all on one run queue and
/// in virtual time. One seed gives one run.
///
/// Used by one thread only; it is Sendable because everything that the engine calls has to be.
final class ShellWorld: @unchecked Sendable {
  /// The device's clock when a world begins: a day in 2025.
  static let beginning: Int64 = 1_750_000_000_000

  let knobs: ShellKnobs
  let plant: ShellPlant?
  let queue: SeededQueue
  let checker: ShellChecker
  private let parent: String
  private let isTelling: Bool
  private let isAsked: @Sendable () -> Bool
  private(set) var story: [String] = []

  var network: RandomStream
  var shop: RandomStream
  var people: RandomStream
  var chance: RandomStream

  var store = LeanStore(storeAccounts: 1)
  var backend = LeanBackend()
  /// Of each request for an order, by its key: the order.
  var orderOfKey: [String: Int] = [:]
  /// Of each transaction: whether the backend has a settling verdict on record; which verdicts came to an engine.
  var isOnRecord: [Bool] = []
  var given: [Set<String>] = []
  /// Transactions given up by a person, confirmed by an app, told to an app; and whose last enqueue threw.
  var discarded: Set<Int> = []
  var confirmed: Set<Int> = []
  var told: [Int: Int] = [:]
  var refused: Set<Int> = []
  /// How often each was sent from the present file.
  var sends: [Int: Int] = [:]
  var signedOut: Set<String> = []
  var lastSignedIn = "alice"
  var device: String?

  var processes: [ShellProcess] = []
  var watch: FileWatch?
  var directory: String
  private var directories = 0
  /// So many boundaries from now everything on the phone dies.
  var boundariesLeft: Int?
  /// What was committed at the moment of a kill.
  var atKill: FileWatch.Content?
  /// Requests that are out, by their lane: who sent them.
  var inFlight: [String: [(send: Int, process: Int)]] = [:]
  var sendCount = 0
  /// What has to have happened when nothing is ready any more.
  var obligations: [(invariant: ShellInvariant, what: String, process: Int, isMet: () -> Bool)] = []
  /// The faults are over.
  var isHealed = false
  var bought = 0
  /// What happens when an engine next calls something outside.
  var armed: [ShellAct] = []
  /// Why no engine could be opened; nil once one was.
  var neverOpened: String?
  /// People who are buying.
  var buyers = 0
  /// Of each order that was handed out: how often.
  var ordersHandedOut: [String: Int] = [:]
  /// Requests with claims, of all processes.
  var uploads = 0
  /// Of the planted bugs of the lease.
  var lanesSeen: Set<String> = []
  var forgotten: [ForgottenLock] = []

  init(
    seed: UInt64, plant: ShellPlant?, below parent: String, isTelling: Bool,
    _ isAsked: @escaping @Sendable () -> Bool
  ) {
    knobs = ShellKnobs(seed: seed)
    self.plant = plant
    queue = SeededQueue(seed: seed)
    checker = ShellChecker(queue)
    self.parent = parent
    self.isTelling = isTelling
    self.isAsked = isAsked
    network = RandomStream(seed: seed, "shell network")
    shop = RandomStream(seed: seed, "shell store")
    people = RandomStream(seed: seed, "shell people")
    chance = RandomStream(seed: seed, "shell chance")
    directory = parent
    queue.stalls = knobs.stalls
  }

  var now: Timestamp { Timestamp(milliseconds: Self.beginning + queue.now) }

  /// Everything that can be seen from outside is part of the run's hash, and of its story.
  func tell(_ process: ShellProcess?, _ line: @autoclosure () -> String) {
    // Where the file lies is another place in each process.
    let line = ((process.map { $0.name + ": " } ?? "") + line())
      .replacingOccurrences(of: parent, with: "…")
    var word: UInt64 = 0xCBF2_9CE4_8422_2325
    for byte in line.utf8 { word = (word ^ UInt64(byte)) &* 0x100_0000_01B3 }
    queue.tell(word)
    guard isTelling else { return }
    let (seconds, rest) = queue.now.quotientAndRemainder(dividingBy: 1_000)
    let digits = String(1_000 + rest).dropFirst()
    story.append("\(seconds).\(digits) s, job \(queue.steps): \(line)")
  }

  // MARK: Directories

  func makeDirectory() throws -> String {
    directories += 1
    let path = parent + "/\(directories)"
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    return path
  }

  // MARK: The run

  /// To the end, or to the first broken invariant.
  func live() throws {
    directory = try makeDirectory()
    plan()
    launch("app")
    try run(until: knobs.length) { false }
    if checker.violation == nil { try heal() }
    if checker.violation == nil { try end() }
    abandon()
  }

  /// Steps until then, or until that is so, or until something is broken.
  func run(until horizon: Int64, _ isDone: () -> Bool) throws {
    var left = 400_000
    while checker.violation == nil, !isDone() {
      if isAsked() { throw ShellExploration.Ended() }
      guard queue.step(until: horizon) else { return }
      left -= 1
      if left == 0 { return checker.broken(.quiet, "jobs run without end") }
      try afterStep()
    }
  }

  private func afterStep() throws {
    if boundariesLeft == -1 { try dieAtBoundary() }
    look()
    if !queue.hasReady { settleObligations() }
  }

  func settleObligations() {
    for duty in obligations where processes[duty.process - 1].isAlive {
      checker.expect(duty.invariant, duty.isMet(), duty.what)
    }
    obligations.removeAll()
  }

  /// Nothing of this run may reach the next one.
  private func abandon() {
    for process in processes where !process.hasEnded { kill(process) }
    watch = nil
  }
}
