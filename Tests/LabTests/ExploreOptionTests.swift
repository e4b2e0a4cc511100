import CommandLineTools
import CommandTestSupport
import Exploration
import TestSupport
import Testing

@testable import purchase_lab

/// The options of `explore`.
@Suite struct ExploreOptionTests {
  @Test(arguments: [
    (["--seeds", "0"], "--seeds needs 1 to"), (["--seconds", "0"], "--seconds needs 1 to"),
    (["--failures", "0"], "--failures needs 1 to"), (["--jobs", "0"], "--jobs needs 1 to 64"),
    (["--seeds", "-4"], "--seeds needs a whole number, not '-4'"),
    (["--seeds", ""], "--seeds needs a whole number, not ''"),
    (["--report", ""], "--report needs a path, not ''"),
    (["--scenarios", ""], "--scenarios needs a path, not ''"),
    (["--seconds", "-1"], "--seconds needs a whole number, not '-1'"),
    (["--from", "-1"], "or a commit of 40 hexadecimal digits, not '-1'"),
    (["--from", "12fe"], "or a commit of 40 hexadecimal digits, not '12fe'"),
    (["--from", String(repeating: "g", count: 40)], "or a commit of 40"),
    (["--from", "18446744073709551615"], "or a commit of 40"),
    (["--seeds", "9", "--seconds", "1"], "--seconds and --seeds do not go together"),
    (["--plant", "all", "--seconds", "1"], "--plant and --seconds do not go together"),
    (["--plant", "newestFirst", "--report", "x.html"], "--plant and --report do not go together"),
    (["--check-determinism", "--report", "x.html"], "--check-determinism and --report do not go together"),
    (["--report"], "--report needs a value"), (["--scenario", "x"], "did you mean '--scenarios'?"),
    (["--print-hashes"], "explore has no option '--print-hashes'"),
    (["--corpus", "x"], "--corpus needs --guided, such as explore --guided --corpus inputs"),
    (["--compare"], "--compare needs --guided"), (["--failing", "x"], "--failing needs --guided"),
    (["--guided", "--read-only"], "--read-only needs a corpus, such as explore --guided --corpus inputs"),
    (["--guided", "--engine"], "--guided and --engine do not go together"),
    (["--guided", "--compare", "--jobs", "2"], "--compare and --jobs do not go together"),
    (["--guided", "--plant", "all"], "there is no planted bug 'all'"),
  ])
  func `options that make no sense are refused`(arguments: [String], said: String) {
    guard case .failure(let error) = ExploreOptions.parse(arguments) else {
      Issue.record("accepted")
      return
    }
    #expect(error.message.contains(said), "\(error.message)")
  }

  @Test func `a commit stands for the number of its first fifteen digits, also in the replay command`() throws
  {
    let commit = "0123456789abcdef0123456789ABCDEF01234567"
    let options = try ExploreOptions.parse(["--from", commit, "--seeds", "5"]).get()
    #expect(options.from == 0x01_2345_6789_abcd_e)
    let result = try CommandResult(
      of: ["explore", "--from", commit, "--seeds", "2", "--profile", "calm"], by: .lab)
    #expect(result.output.hasPrefix("profile calm on memory, 2 seeds from 5124095576030430\n"))
    let replay = FailureScenario.replay(SimulationChoice(), seed: options.from, keep: [], stopAt: 7)
    #expect(
      replay == "purchase-lab replay --seed 5124095576030430 --profile swarm --storage memory"
        + " --keep none --stop-at 7")
    guard case .success = Command.parse(Array(replay.split(separator: " ").map(String.init).dropFirst()))
    else {
      Issue.record("the command is not valid")
      return
    }
  }

  @Test func `a number of forty digits is a commit, one of twenty is a number`() throws {
    #expect(try ExploreOptions.seed(String(repeating: "1", count: 40)) == 0x111_1111_1111_1111)
    #expect(try ExploreOptions.seed("9223372036854775807") == UInt64(Int64.max))
  }

  @Test(arguments: [
    (["--report", "/nowhere/at/all.html"], "there is no folder /nowhere/at"),
    (["--scenarios", "/dev/null/scenarios"], "/dev/null/scenarios cannot be made"),
  ])
  func `a missing folder is reported before the work begins`(
    arguments: [String], said: String
  ) throws {
    let result = try CommandResult(of: ["explore", "--seeds", "1000000"] + arguments, by: .lab)
    #expect(result.status == 70 && result.output.isEmpty)
    #expect(result.errors.contains(said), "\(result.errors)")
  }

  @Test func `the progress shows counts, rates and the time left`() throws {
    var sum = try Explorer(.calm, .memory, jobs: 1).run(1..<5)
    let words = ExploreProgress.words(
      sum, of: ExploreLimits(seeds: 12), marks: MachineMark.allCases.count, after: 2)
    #expect(words.hasPrefix("4 seeds, 2/s, \(sum.figures.purchases / 2) purchases/s, "))
    #expect(words.hasSuffix("of \(MachineMark.allCases.count) marks, 0 failed, 0:04 left"))
    #expect(
      ExploreProgress.words(sum, of: ExploreLimits(seconds: 65), marks: 1, after: 0).hasSuffix(", 1:05 left"))
    sum.runs = 20
    #expect(
      ExploreProgress.words(sum, of: ExploreLimits(seconds: 60), marks: 1, after: 90).hasSuffix(", 0:00 left")
    )
  }
}

/// The search with several threads and with limits.
@Suite struct ExplorerTests {
  @Test func `the number of threads does not change the result`() throws {
    let runs = 12
    let alone = try Explorer(.swarm, .memory, jobs: 1).run(1..<UInt64(runs + 1))
    #expect(alone.runs == runs)
    for jobs in LongTests.some([5, 2], every: 2) {
      let together = try Explorer(.swarm, .memory, jobs: jobs).run(1..<UInt64(runs + 1))
      #expect(together.runs == runs, "\(jobs)")
      #expect(alone.exercised == together.exercised && alone.marks == together.marks, "\(jobs)")
      #expect(alone.figures == together.figures && alone.events == together.events, "\(jobs)")
    }
  }

  @Test func `no new run begins after the limit of failures`() throws {
    let explorer = Explorer(.swarm, .memory, .finishBeforeAcknowledgement, jobs: 1)
    let sum = try explorer.run(ExploreLimits(from: 1, seeds: 10_000, failures: 3))
    #expect(sum.failures == 3 && sum.runs < 100)
    #expect(
      sum.broken.map(\.seed) == sum.broken.map(\.seed).sorted() && sum.failure?.seed == sum.broken.first?.seed
    )
    #expect(sum.brokenInvariants.values.reduce(0, +) == 3)
  }

  @Test(arguments: LongTests.areOn ? [2, 16] : [2])
  func `the first failures do not depend on the number of threads`(jobs: Int) throws {
    let explorer = Explorer(.swarm, .memory, .wrongAccountAfterSwitch, jobs: jobs)
    let first = try explorer.run(1..<1_001, stopsAtFailure: true)
    #expect(first.failure?.seed == 14)
    // No thread runs far beyond the limit.
    #expect(first.runs < 14 + 8 * (jobs + 1))
    let alone = Explorer(.swarm, .memory, .wrongAccountAfterSwitch, jobs: 1)
    let limits = ExploreLimits(from: 1, seeds: 1_000, failures: 5)
    let (expected, some) = (try alone.run(limits).broken, try explorer.run(limits).broken)
    #expect(expected.count == 5 && some.prefix(5).map(\.seed) == expected.map(\.seed))
  }

  @Test func `without time there is no run`() throws {
    let sum = try Explorer(.swarm, .memory, jobs: 2).run(ExploreLimits(seconds: 0))
    #expect(sum.runs == 0 && sum.marksHit == 0 && sum.failure == nil)
    #expect(sum.exercised(.oneCredit) == 0 && sum.hits(.busy) == 0)
    // There is no run, so a rate would divide by zero.
    #expect(Distribution.all(of: sum.figures).allSatisfy { $0.median == "none" && $0.bars.isEmpty })
  }

  @Test func `the knobs of each run are counted on request`() throws {
    let sum = try Explorer(.swarm, .memory, jobs: 2, countsKnobs: true).run(1..<21)
    var counts = KnobCounts()
    for seed in 1..<21 { counts.add(MachineKnobs(seed: UInt64(seed), profile: .swarm).description.values) }
    #expect(sum.knobs == counts && counts.runs == 20)
    for knob in ["phones", "accounts", "Apple IDs", "hours of faults", "limit of entries", "vault"] {
      #expect(counts.values(of: knob).map(\.count).reduce(0, +) == 20, "\(knob)")
    }
    let faults = counts.values(of: "kinds of fault that a run has").map(\.count)
    #expect(faults.count == Fault.allCases.count)
    #expect(faults.allSatisfy { $0 <= 20 } && faults.contains { $0 > 0 })
    #expect(try Explorer(.swarm, .memory, jobs: 1).run(1..<3).knobs.runs == 0)
  }
}

/// The figures of a run as bars.
@Suite struct DistributionTests {
  private func deliveries(_ milliseconds: Int64...) -> Distribution {
    var figures = DeliveryFigures()
    for time in milliseconds { figures.delivered(after: time, attempts: 1) }
    return Distribution.all(of: figures)[0]
  }

  @Test(
    arguments: [
      (0, "under 1 s"), (999, "under 1 s"), (1_000, "under 2 s"), (1_999, "under 2 s"), (2_000, "under 4 s"),
      (3_999, "under 4 s"), (4_000, "under 8 s"), (31_999, "under 32 s"), (32_000, "under 0:01:04"),
      (4_095_999, "under 1:08:16"), (4_096_000, "under 2:16:32"), (131_071_999, "under 1 day 12:24:32"),
      (4_194_303_999, "under 48 days 13:05:04"), (4_194_304_000, "48 days 13:05:04 and more"),
      (.max, "48 days 13:05:04 and more"), (-5, "under 1 s"),
    ] as [(Int64, String)])
  func `a time is counted in the bar with its label`(milliseconds: Int64, label: String) {
    let bars = deliveries(milliseconds).bars
    #expect(bars.last == Distribution.Bar(label: label, count: 1))
    #expect(bars.dropLast().allSatisfy { $0.count == 0 })
  }

  @Test func `median, 99th percentile and maximum are those of the counted times`() {
    var times = Array(repeating: Int64(1_500), count: 98)
    times += [5_000, 100_000]
    var figures = DeliveryFigures()
    for (index, time) in times.enumerated() { figures.delivered(after: time, attempts: index == 0 ? 40 : 2) }
    for length in [0, 0, 3, 80] { figures.queued(behind: length) }
    let all = Distribution.all(of: figures)
    #expect(all.map(\.count) == [100, 100, 4])
    #expect(all.map(\.median) == ["under 2 s", "2", "0"])
    #expect(all.map(\.almostAll) == ["under 8 s", "2", "64 and more"])
    #expect(all.map(\.most) == ["0:01:40", "40", "80"])
    #expect(all[1].bars.last == Distribution.Bar(label: "16 and more", count: 1))
    #expect(all[2].bars.suffix(3).map(\.label) == ["32 to 47", "48 to 63", "64 and more"])
    #expect(all[2].bars.map(\.count) == [2, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1])
  }
}
