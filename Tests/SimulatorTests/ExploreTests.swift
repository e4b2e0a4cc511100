import FaultInjection
import PurchaseQueue
import Testing

@testable import purchase_simulator

/// Lives of purchases in virtual time, and what holds them to the invariants.
@Suite struct ExploreTests {
  @Test(arguments: ExplorationProfile.allCases)
  func `no life of any profile breaks an invariant`(profile: ExplorationProfile) throws {
    let sum = try Explorer(profile, .memory, jobs: 1).run(1..<41)
    #expect(sum.seeds == 40)
    #expect(sum.broken.map { "seed \($0.seed): \($0.violation.what)" } == [])
  }

  @Test func `nor does one on the real queue`() throws {
    let sum = try Explorer(.swarm, .sqlite, jobs: 1).run(1..<6)
    #expect(sum.broken.map { "seed \($0.seed): \($0.violation.what)" } == [])
  }

  /// Each of them was a failure once, of the machine or of a storage.
  @Test(
    arguments: [
      // Credentials came while a request without them was out, and the lane waited for others.
      (453, .swarm), (673, .swarm),
      // A receipt that was written anew for each listing took an entry out of quarantine without end.
      (335, .swarm),
      // An order that was made elsewhere had two transactions.
      (3, .swarm), (274, .swarm),
      // A refund that only the backend knew was undone, and the purchase was nobody's.
      (1_140, .swarm), (1_805, .swarm),
      // What the quarantine's trial had no room for waited a day for each.
      (932, .swarm),
      // The backend asked for a day, and the clock went back a year and on again in it: the machine keeps to it.
      (41_443, .swarm),
      // The app died while its extension lived: what waits is the next launch's.
      (200_145, .crash),
      // What was out when the faults stopped was parked for its last failure, and has a day then.
      (71_733_682_357_122_045, .swarm),
      // What a lying backend had bound to a wrong order is kept by one phone, and another had heard of its refund only.
      (1_120_535_837_441_469_807, .swarm),
      // Poison that stood first came due again and again before what stood behind it.
      (80_331, .swarm), (99_046, .swarm),
      // A clock that went back in another process; a budget that was spent before it did; a stale receipt beside a
      // signed transaction; room that was left behind what the store keeps.
      (1_063_289, .swarm), (1_073_904, .swarm), (1_272_275, .swarm), (87_015, .swarm),
      // A Retry-After that was over, and began anew when the clock went back.
      (2_135_121, .swarm),
      // What the backend asked for when it refused an entry: kept beyond a clock that went back, forgotten in parking.
      (257, .swarm), (58_193, .swarm), (12_090_597, .swarm),
      // The checker: what takes all the room for good, a Retry-After that could not be stored, room taken by another Apple ID's, an undone refund.
      (90_546, .swarm), (1_224_469, .swarm), (1_004_093, .swarm), (1_435_656, .swarm), (1_276_355, .swarm),
    ] as [(UInt64, ExplorationProfile)])
  func `what failed once does not fail again`(seed: UInt64, profile: ExplorationProfile) throws {
    let life = try Explorer(profile, .memory, jobs: 1).exploration.live(seed)
    #expect(life.violation == nil)
  }

  @Test(
    arguments: [
      // A locked vault kept the mirror of a settled entry, and its tombstone had made room since.
      (119, .swarm),
      // What the vault brings back is of an install before the last one.
      (200_171, .swarm),
    ] as [(UInt64, ExplorationProfile)])
  func `what failed once on the real queue does not fail again`(seed: UInt64, profile: ExplorationProfile)
    throws
  {
    let life = try Explorer(profile, .sqlite, jobs: 1).exploration.live(seed)
    #expect(life.violation == nil)
  }

  @Test func `the same seed is the same life, another one is another`() throws {
    let exploration = Explorer(.swarm, .memory, jobs: 1).exploration
    let (first, again, other) = (try exploration.live(7), try exploration.live(7), try exploration.live(8))
    #expect(first.hash == again.hash && first.events == again.events)
    #expect(first.hash != other.hash)
  }

  @Test(arguments: [
    Plant.finishBeforeAcknowledgement, .newestFirst, .wrongAccountAfterSwitch, .budgetNotStored,
  ])
  func `a planted bug is found, and its story is small`(plant: Plant) throws {
    let explorer = Explorer(.swarm, .memory, plant, jobs: 1)
    let sum = try explorer.run(1..<201, stopsAtFailure: true)
    let failure = try #require(sum.failure)
    let story = try FailureStory(explorer.exploration, .memory, failure)
    #expect(story.shrinking.places.count <= 12)
    let again = try explorer.exploration.live(
      failure.seed, keeping: story.shrinking.places, stopAt: story.shrinking.violation.event)
    #expect(again.violation == story.shrinking.violation)
    #expect(story.lines().last?.contains("replay --seed \(failure.seed)") == true)
  }

  @Test func `a failure prints the knobs that its seed drew`() {
    let lines = Knobs(seed: 5, profile: .swarm).lines
    #expect(lines.first == "seed 5, profile swarm")
    #expect(lines.contains { $0.hasPrefix("caps: ") })
    #expect(Knobs(seed: 5, profile: .swarm).lines == lines)
  }

  @Test func `a replay tells the life of a seed, to the event that is asked for`() throws {
    let whole = try CommandResult(of: ["replay", "--seed", "5", "--profile", "calm"])
    #expect(whole.status == 0)
    #expect(whole.output.contains("nothing was broken"))
    let part = try CommandResult(of: ["replay", "--seed", "5", "--profile", "calm", "--stop-at", "20"])
    #expect(part.output.count < whole.output.count)
  }

  @Test(arguments: [
    (["explore", "--profile", "swarn"], "did you mean 'swarm'"),
    (["explore", "--plant", "newestfirst"], "did you mean 'newestFirst'"),
    (["explore", "--seed", "3"], "did you mean '--seeds'"), (["replay", "--keep", "a"], "places of acts"),
  ])
  func `what is asked for wrongly is told`(arguments: [String], told: String) throws {
    let result = try CommandResult(of: arguments)
    #expect(result.status == 64)
    #expect(result.errors.contains(told))
  }
}
