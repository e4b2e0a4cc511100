import CommandLineTools
import CommandTestSupport
import Exploration
import Foundation
import TestSupport
import Testing

@testable import purchase_lab

/// The real engine on a seeded run queue, in child processes: the runtime's hook belongs to the process.
@Suite struct EngineSimulationTests {
  @Test func `no run of the real engine breaks an invariant`() throws {
    let result = try CommandResult(
      of: [
        "explore", "--engine", "--seeds", "20", "--jobs", "2",
      ], by: .lab)
    #expect(result.status == 0, "\(result.output.suffix(2_000))\(result.errors)")
    #expect(result.output.contains("no invariant was broken"))
  }

  @Test(arguments: [110, 267, 218, 431])
  func `neither a refused token nor an adoption that is to wait makes a delivery late`(seed: Int) throws {
    let result = try CommandResult(of: ["replay", "--engine", "--seed", "\(seed)"], by: .lab)
    #expect(result.status == 0, "\(result.output.suffix(500))\(result.errors)")
  }

  @Test func `two processes run the same jobs in the same order, and each seed another order`() throws {
    let count = 8
    let result = try CommandResult(
      of: ["explore", "--engine", "--check-determinism", "--seeds", "\(count)"], by: .lab)
    #expect(result.status == 0, "\(result.output)\(result.errors)")
    #expect(
      result.output.contains("\(count) seeds are the same run in two processes: \(count) different runs"))
  }

  /// `ceilingOfAShift` breaks 26 where the queue is full: the next look at the store waits for eight hours, too, although
  /// another phone has delivered the purchase by then.
  @Test(.enabled(if: LongTests.areOn))
  func `each planted bug is found, by the invariant that it breaks`() throws {
    let found: [EngineBug: Set<String>] = [
      .timerNeverRings: ["24"], .sleepIgnoresCancellation: ["S2"], .workIsLost: ["S1"],
      .sentTwice: ["14", "4", "8"],
      .retryAfterSwallowed: ["17"], .answeredFromCache: ["24", "40", "41"], .finishBeforeTheReply: ["3"],
      .leaseFreedEarly: ["14"], .leaseKept: ["S2", "S5", "24", "40"], .wrongAccountAfterAwait: ["6"],
      .finishInADefer: ["3", "13"], .outcomeToldEarly: ["23"], .confirmedForTheApp: ["23"],
      .streamNeverEnds: ["S3"], .ownedWithoutOrder: ["36"], .cancelledIsUnpaid: ["3"], .oneKeyForAll: ["9"],
      .deviceOrderNotSent: ["41"], .ownerDropped: ["32"], .userNotNamed: ["32"],
      .restoredForAnyone: ["32"], .vaultMovesAlong: ["6"], .idsBelieved: ["39"], .refundsAddUp: ["43"],
      .bundleCountsOnce: ["44"], .seatsByToken: ["45"], .seatsPaid: ["45"],
      .wakeForgotten: ["24", "40"], .ceilingOfAShift: ["24", "26", "41"], .retriesAtOnce: ["8", "42"],
      .probesWithoutEnd: ["42"], .listsWithoutEnd: ["42"], .asksForTokens: ["42"],
      .tellsUntilConfirmed: ["42"], .firstProofListed: ["24", "40"],
    ]
    let result = try CommandResult(of: ["explore", "--engine", "--plant", "all"], by: .lab)
    #expect(result.status == 0, "\(result.output)\(result.errors)")
    for plant in EngineBug.allCases {
      let row = result.output.split(separator: "\n").first { $0.hasPrefix(plant.rawValue) } ?? ""
      let words = row.split(separator: " ").map(String.init)
      #expect(words.count > 2 && found[plant]?.contains(words[1]) == true, "\(row)")
    }
  }

  /// One process with a queued entry is judged a minute after its wake. What two processes share, and a purchase that the
  /// store still lists, is judged at the end of the run.
  @Test(arguments: [(21, "24"), (79, "40")])
  func `a lost timer breaks the promise that is judged first`(seed: Int, invariant: String) throws {
    let result = try CommandResult(
      of: ["replay", "--engine", "--seed", "\(seed)", "--plant", "timerNeverRings"], by: .lab)
    #expect(result.status == 1)
    #expect(result.output.contains("invariant \(invariant) is broken"), "\(result.output.suffix(500))")
  }

  @Test func `a replay traces every effect of a run, and ends as the exploration did`() throws {
    let whole = try CommandResult(of: ["replay", "--engine", "--seed", "7"], by: .lab)
    #expect(whole.status == 0, "\(whole.output.suffix(500))")
    #expect(whole.output.contains("app: is launched") && whole.output.contains("nothing was broken"))
    #expect(try CommandResult(of: ["replay", "--engine", "--seed", "7"], by: .lab).output == whole.output)
    let broken = try CommandResult(
      of: ["replay", "--engine", "--seed", "1", "--plant", "streamNeverEnds"], by: .lab)
    #expect(broken.status == 1)
    #expect(broken.output.contains("invariant S3 is broken"))
  }

  @Test func `a large run that misses a mark, or hardly checks an invariant, is not good`() {
    var options = ExploreOptions()
    options.choice.isEngine = true
    func report(_ sum: RunSum) -> ExploreReport { ExploreReport(options: options, sum: sum, seconds: 1) }
    var sum = RunSum()
    sum.runs = 1_000
    #expect(report(sum).missedMarks.count == EngineMark.allCases.count)
    #expect(report(sum).rarelyExercised.map(\.number) == EngineInvariant.allCases.map(\.number))
    #expect(!report(sum).isGood)
    sum.marks = EngineMark.allCases.map { _ in 1 }
    sum.exercised = EngineInvariant.allCases.map { _ in 500 }
    #expect(report(sum).isGood)
    let twice = Violation(invariant: "14", sentence: "", what: "twice", event: 7, at: 0)
    sum.add(
      RunResult(
        seed: 9, violation: twice, events: 0, draws: 0, hash: 0, exercised: [], marks: [],
        figures: DeliveryFigures()))
    #expect(!report(sum).isGood && report(sum).lines.contains("seed 9: 14, twice"))
    #expect(
      FailureScenario.replay(options.choice, seed: 9, stopAt: 7)
        == "purchase-lab replay --seed 9 --engine --profile swarm --stop-at 7")
  }

  @Test func `the options of the machine's simulation work for the engine as well`() throws {
    try TemporaryDirectory.with("Engine") { directory in
      let page = directory + "/out.html"
      let result = try CommandResult(
        of: ["explore", "--engine", "--profile", "crash", "--seeds", "4", "--json", "--report", page],
        by: .lab)
      #expect(result.status == 0, "\(result.output)\(result.errors)")
      #expect(result.output.contains("\"simulation\":\"engine\""))
      #expect(try String(contentsOfFile: page, encoding: .utf8).contains("what happens in a run"))
      let found = try CommandResult(
        of: ["explore", "--engine", "--plant", "streamNeverEnds", "--scenarios", directory + "/scenarios"],
        by: .lab)
      #expect(found.status == 0, "\(found.output)\(found.errors)")
      let names = try FileManager.default.contentsOfDirectory(atPath: directory + "/scenarios")
      #expect(names.count == 1 && names[0].hasSuffix("-streamneverends.json"))
    }
  }

  @Test func `a failing run of the engine is made small, and its replay breaks the same invariant`() throws {
    let found = try CommandResult(of: ["explore", "--engine", "--plant", "outcomeToldEarly"], by: .lab)
    #expect(found.status == 0, "\(found.output)\(found.errors)")
    let line = try #require(found.output.split(separator: "\n").first { $0.contains(" replay --seed ") })
    let replay = try CommandResult(
      of: line.split(separator: " ").dropFirst().map(String.init), by: .lab)
    #expect(replay.status == 1 && replay.output.contains("invariant 23 is broken"), "\(replay.output)")
  }

  @Test(arguments: [
    (["explore", "--engine", "--sedes", "3"], "did you mean '--seeds'"),
    (["explore", "--engine", "--plant", "leasekept"], "did you mean 'leaseKept'"),
    (["replay", "--engine", "--plant", "all"], "there is no planted bug 'all'"),
    (["replay", "--engine", "--seeds", "3"], "has no option '--seeds'"),
    (["explore", "--engine", "--storage", "memory"], "--engine and --storage do not go together"),
  ])
  func `wrong options are explained`(arguments: [String], told: String) throws {
    let result = try CommandResult(of: arguments, by: .lab)
    #expect(result.status == 64)
    #expect(result.errors.contains(told), "\(result.errors)")
  }
}
