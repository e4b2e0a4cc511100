import CommandLineTools
import CommandTestSupport
import Exploration
import Foundation
import MemoryModels
import PurchaseSyncTesting
import TestSupport
import Testing

@testable import purchase_lab

/// The exhaustive search: that it visits every state, that it sees each planted bug, and what it says.
@Suite struct ExhaustiveTests {
  private static func search(
    _ world: SmallWorld, _ bug: ExhaustiveBug? = nil, seed: UInt64 = 1, mostBytes: Int = 1 << 30,
    comparesEquals: Bool = false
  ) throws -> ExhaustiveSearch {
    try ExhaustiveSearch(world, bug: bug, seed: seed, mostBytes: mostBytes, comparesEquals: comparesEquals) {
      MemoryStorage(limits: $0)
    }
  }

  /// One purchase on one device, and every fault.
  private static let tiny = SmallWorld(purchases: 1, crashes: 1, lostReplies: 1, reinstalls: 1)

  @Test(arguments: [
    tiny, SmallWorld(purchases: 2, accounts: 2), SmallWorld(purchases: 1, devices: 2),
    SmallWorld(purchases: 1, accounts: 2, crashes: 1, reinstalls: 1, leavesOrders: true),
    SmallWorld(purchases: 2, lostReplies: 1, seat: 1), SmallWorld(purchases: 2, seat: 0),
    SmallWorld(purchases: 1, devices: 2, crashes: 1, seat: 0),
    SmallWorld(purchases: 2, crashes: 1, isBundle: true),
    SmallWorld(purchases: 2, devices: 2, isBundle: true),
  ])
  func `a smaller world is closed, and breaks nothing`(world: SmallWorld) throws {
    let result = try Self.search(world).run()
    #expect(result.isClosed && result.violation == nil, "\(result)")
    #expect(result.states > 50 && result.transitions > result.states && result.depth > 7, "\(result)")
    // Each event of a device is given to the machine once, however many states have it.
    #expect(result.machineSteps < result.transitions)
  }

  /// Of each planted bug: the invariant that it breaks first, and the number of steps to that.
  private static let breaks: [ExhaustiveBug: (InvariantNumber, steps: Int)] = [
    .finishesOnArrival: (3, 3), .finishesFailedEnqueue: (3, 4), .noReplyIsGranted: (11, 4),
    .sendsTwice: (14, 3),
    .wrongAccount: (6, 4), .toldOnce: (24, 5), .seenWhenTold: (23, 5), .timerLost: (24, 4),
    .overflowForgotten: (24, 4),
    .dropsUnlisted: (11, 11), .limitIgnored: (7, 4), .evictsOldest: (11, 4), .enqueueNotDurable: (4, 3),
    .attemptNotStored: (8, 3), .unconfirmedForgotten: (23, 5), .answersBeforeCommit: (1, 6),
    .backendForgets: (2, 7),
    .keyedByInstallation: (2, 7), .seatsByToken: (45, 5), .seatsPaid: (45, 4),
    .bundleCountsOnce: (1, 9),
  ]

  @Test(arguments: ExhaustiveBug.allCases)
  func `a planted bug breaks its invariant in the smallest world that shows it`(bug: ExhaustiveBug) throws {
    let violation = try #require(try Self.search(bug.smallest, bug).run().violation)
    let expected = try #require(Self.breaks[bug])
    #expect(violation.invariant == expected.0 && violation.steps.count == expected.steps, "\(violation)")
  }

  @Test func `the way to a planted bug is the shortest one`() throws {
    let violation = try Self.search(ExhaustiveBug.answersBeforeCommit.smallest, .answersBeforeCommit).run()
      .violation
    #expect(
      violation?.steps == [
        "device A: the app is launched", "device A: alice buys 1", "device A: the store lists 1",
        "the backend gets the request of device A about 1, and answers granted",
        "device A: the answer comes: granted", "device A: the store finishes 1",
      ])
    #expect(violation?.invariant == 1)
  }

  @Test
  func `a bug that needs a lost reply, a crash and a second device is found, and not without one of them`()
    throws
  {
    let bug = ExhaustiveBug.dropsUnlisted
    let steps = try #require(try Self.search(bug.smallest, bug).run().violation).steps
    for needed in ["the answer is lost", "the process dies", "device B"] {
      #expect(steps.contains { $0.contains(needed) }, "\(steps)")
    }
    for keyPath in [\SmallWorld.crashes, \.lostReplies] {
      var world = bug.smallest
      world[keyPath: keyPath] = 0
      let result = try Self.search(world, bug).run()
      #expect(result.isClosed && result.violation == nil)
    }
    var alone = bug.smallest
    alone.devices = 1
    #expect(try Self.search(alone, bug).run().violation == nil)
  }

  @Test(
    arguments: LongTests.some(
      [
        tiny, SmallWorld(purchases: 2, accounts: 2), SmallWorld(purchases: 1, devices: 2),
        SmallWorld(purchases: 2, devices: 2, seat: 1), SmallWorld(purchases: 1, devices: 2, seat: 0),
        SmallWorld(purchases: 2, crashes: 1, seat: 1), SmallWorld(purchases: 2, devices: 2, isBundle: true),
      ], every: 3))
  func `states that are held equal behave alike`(world: SmallWorld) throws {
    let search = try Self.search(world, comparesEquals: true)
    _ = try search.run()
    let difference = try search.difference()
    #expect(difference == nil)
  }

  @Test func `no random number matters`() throws {
    let one = try Self.search(Self.tiny).run()
    let other = try Self.search(Self.tiny, seed: 77).run()
    #expect((one.states, one.transitions, one.depth) == (other.states, other.transitions, other.depth))
  }

  @Test func `a search that ends early is not closed, and says why`() throws {
    let world = SmallWorld(purchases: 2, devices: 2)
    let small = try Self.search(world, mostBytes: 1 << 10).run()
    #expect(!small.isClosed && small.reason == "the table needs more than 0 MiB")
    let ended = try Self.search(world).run { _ in false }
    #expect(!ended.isClosed && ended.reason == "it was interrupted")
    let report = ExhaustiveReport(world: world, result: ended, seconds: 1)
    #expect(!report.isGood && report.verdict.hasPrefix("not closed: it was interrupted"))
    #expect(!report.document.closed && report.document.violations == 0)
  }

  @Test func `the verdict says what the bounds leave out, and what is fair`() throws {
    let result = try Self.search(Self.tiny).run()
    let report = ExhaustiveReport(world: Self.tiny, result: result, seconds: 1)
    let text = report.lines.joined(separator: "\n")
    for left in SmallWorld.leftOut { #expect(text.contains(left)) }
    #expect(text.contains(SmallWorld.fairness) && text.contains(Self.tiny.sentence))
    #expect(report.isGood && report.document.closed && report.document.good)
  }

  // MARK: The command

  @Test func `the command finds a planted bug and prints the numbered steps to it`() throws {
    let result = try CommandResult(of: ["explore", "--exhaustive", "--plant", "finishesOnArrival"], by: .lab)
    #expect(result.status == 0)
    #expect(result.output.contains("  3. device A: the store lists 1\ninvariant 3: "))
    #expect(result.output.hasSuffix("every planted bug was found\n"))
  }

  @Test(arguments: [
    (["--exhaustive", "--seeds", "5"], "--exhaustive and --seeds do not go together"),
    (["--exhaustive", "--engine"], "--exhaustive and --engine do not go together"),
    (["--exhaustive", "--plant", "sendTwice"], "did you mean 'sendsTwice'?"),
    (["--plant", "sendsTwice"], "there is no planted bug 'sendsTwice'"),
  ])
  func `options that make no sense are refused`(arguments: [String], said: String) {
    guard case .failure(let error) = ExploreOptions.parse(arguments) else {
      Issue.record("accepted")
      return
    }
    #expect(error.message.contains(said), "\(error.message)")
  }
}
