import CommandLineTools
import CommandTestSupport
import Exploration
import PurchaseQueue
import TestSupport
import Testing

@testable import purchase_lab

/// The machine's simulation in virtual time, and its invariants.
@Suite struct ExploreTests {
  @Test(arguments: SimulationProfile.allCases)
  func `no run of any profile breaks an invariant`(profile: SimulationProfile) throws {
    let runs = 5
    let sum = try Explorer(profile, .memory, jobs: 1).run(1..<UInt64(runs + 1))
    #expect(sum.runs == runs)
    #expect(sum.broken.map { "seed \($0.seed): \($0.violation.what)" } == [])
  }

  @Test func `no run on the real queue breaks an invariant`() throws {
    let sum = try Explorer(.swarm, .sqlite, jobs: 1).run(1..<3)
    #expect(sum.broken.map { "seed \($0.seed): \($0.violation.what)" } == [])
  }

  /// Each seed has once found a failure of the machine or of a storage. The comment names the cause.
  @Test(
    arguments: [
      // Credentials arrived while a request without them was in flight, and the lane kept waiting for credentials.
      (453, .swarm), (673, .swarm),
      // The store rewrote the receipt for each listing, and each new receipt released the entry from quarantine again.
      (335, .swarm),
      // An order that another device had made was bound to two transactions.
      (3, .swarm), (274, .swarm),
      // A refund that only the backend knew was undone, and no account got the purchase.
      (1_140, .swarm), (1_805, .swarm),
      // Entries that a quarantine trial had no capacity for waited a day each.
      (932, .swarm),
      // Retry-After of a day: within it, the clock went back a year and forward again. The machine must still wait.
      (41_443, .swarm),
      // The app died while its extension was running: the next launch has to send the waiting entries.
      (200_145, .crash),
      // An entry in flight when the faults stopped went to quarantine for its last failure: it may take a day longer.
      (71_733_682_357_122_045, .swarm),
      // A lying backend bound a purchase to a wrong order. One phone keeps that binding; another knew the refund only.
      (1_120_535_837_441_469_807, .swarm),
      // A poisoned entry at the head became due again and again before the entries behind it.
      (80_331, .swarm), (99_046, .swarm),
      // The clock went back in another process; the retry budget was spent before the clock went back; a stale receipt
      // next to a signed transaction; capacity was free while the store still held transactions.
      (1_063_289, .swarm), (1_073_904, .swarm), (1_272_275, .swarm), (87_015, .swarm),
      // A Retry-After had passed and started again when the clock went back.
      (2_135_121, .swarm), (51_403, .swarm),
      // A Retry-After that came with a refused entry: kept too long after the clock went back; lost in quarantine.
      (257, .swarm), (58_193, .swarm), (12_090_597, .swarm),
      // Faults of the checker: entries that fill the queue for good, a Retry-After that could not be stored, capacity
      // taken by another Apple ID's entries, an undone refund.
      (90_546, .swarm), (1_224_469, .swarm), (1_004_093, .swarm), (1_435_656, .swarm), (1_276_355, .swarm),
    ] as [(UInt64, SimulationProfile)])
  func `a seed that failed once does not fail again`(seed: UInt64, profile: SimulationProfile) throws {
    #expect(try Explorer(profile, .memory, jobs: 1).runner.run(seed).violation == nil)
  }

  @Test(
    arguments: [
      // A locked vault kept the mirror of a settled entry, and its tombstone had been removed to free capacity.
      (119, .swarm),
      // The vault restores entries of an installation before the last one.
      (200_171, .swarm),
    ] as [(UInt64, SimulationProfile)])
  func `a seed that failed once on the real queue does not fail again`(
    seed: UInt64, profile: SimulationProfile
  )
    throws
  {
    #expect(try Explorer(profile, .sqlite, jobs: 1).runner.run(seed).violation == nil)
  }

  @Test func `the same seed gives the same run, and another seed another run`() throws {
    let runner = Explorer(.swarm, .memory, jobs: 1).runner
    let (first, again, other) = (try runner.run(7), try runner.run(7), try runner.run(8))
    #expect(first.hash == again.hash && first.events == again.events)
    #expect(first.hash != other.hash)
  }

  @Test(arguments: [
    MachineBug.finishBeforeAcknowledgement, .newestFirst, .wrongAccountAfterSwitch, .budgetNotStored,
  ])
  func `a planted bug is found, and its scenario is small`(bug: MachineBug) throws {
    let explorer = Explorer(.swarm, .memory, bug, jobs: 1)
    let sum = try explorer.run(1..<201, stopsAtFailure: true)
    let failure = try #require(sum.failure)
    let scenario = try FailureScenario(SimulationChoice(bug: bug.rawValue), failure)
    #expect(scenario.shrinking.places.count <= 12)
    let again = try explorer.runner.run(
      failure.seed, keeping: scenario.shrinking.places, stopAt: scenario.shrinking.violation.event)
    #expect(again.violation == scenario.shrinking.violation)
    #expect(scenario.lines().last?.contains("replay --seed \(failure.seed)") == true)
  }

  @Test func `a failure prints the knobs that its seed drew`() {
    let lines = MachineKnobs(seed: 5, profile: .swarm).description.lines
    #expect(lines.first == "seed 5, profile swarm")
    #expect(lines.contains { $0.hasPrefix("limits: ") })
    #expect(MachineKnobs(seed: 5, profile: .swarm).description.lines == lines)
  }

  @Test func `a replay traces the run of a seed up to the given event`() throws {
    let whole = try CommandResult(of: ["replay", "--seed", "5", "--profile", "calm"], by: .lab)
    #expect(whole.status == 0)
    #expect(whole.output.contains("nothing was broken"))
    let part = try CommandResult(
      of: ["replay", "--seed", "5", "--profile", "calm", "--stop-at", "20"], by: .lab)
    #expect(part.output.count < whole.output.count)
  }

  @Test(arguments: [
    (["explore", "--profile", "swarn"], "did you mean 'swarm'"),
    (["explore", "--plant", "newestfirst"], "did you mean 'newestFirst'"),
    (["explore", "--seed", "3"], "did you mean '--seeds'"), (["replay", "--keep", "a"], "places of acts"),
  ])
  func `wrong options are explained`(arguments: [String], told: String) throws {
    let result = try CommandResult(of: arguments, by: .lab)
    #expect(result.status == 64)
    #expect(result.errors.contains(told))
  }
}
