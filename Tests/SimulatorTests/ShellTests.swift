import FaultInjection
import Testing

@testable import purchase_simulator

/// The real engine under a seeded run queue: in processes of its own, since the runtime's hook is the process's.
@Suite struct ShellTests {
  @Test func `no life of the real engine breaks an invariant`() throws {
    let result = try CommandResult(of: ["explore", "--shell", "--seeds", "240", "--jobs", "2"])
    #expect(result.status == 0, "\(result.output.suffix(2_000))\(result.errors)")
    #expect(result.output.contains("no invariant was broken"))
  }

  @Test func `two processes run the same jobs in the same order, and each seed another`() throws {
    let result = try CommandResult(of: ["explore", "--shell", "--check-determinism", "--seeds", "24"])
    #expect(result.status == 0, "\(result.output)\(result.errors)")
    #expect(result.output.contains("24 seeds are the same run in two processes: 24 orders"))
  }

  @Test func `each planted bug is found, by the invariant that it breaks`() throws {
    let found: [ShellPlant: Set<String>] = [
      .timerNeverRings: ["24"], .sleepIgnoresCancellation: ["S2"], .workIsLost: ["S1"],
      .sentTwice: ["14", "4"],
      .retryAfterSwallowed: ["17"], .answeredFromCache: ["24"], .finishBeforeTheReply: ["3"],
      .leaseFreedEarly: ["14"], .leaseKept: ["S2", "S5", "24"], .wrongAccountAfterAwait: ["6"],
      .finishInADefer: ["3", "13"], .outcomeToldEarly: ["23"], .confirmedForTheApp: ["23"],
      .streamNeverEnds: ["S3"],
    ]
    let result = try CommandResult(of: ["explore", "--shell", "--plant", "all", "--seeds", "400"])
    #expect(result.status == 0, "\(result.output)\(result.errors)")
    for plant in ShellPlant.allCases {
      let row = result.output.split(separator: "\n").first { $0.hasPrefix(plant.rawValue) } ?? ""
      let words = row.split(separator: " ").map(String.init)
      #expect(words.count > 2 && found[plant]?.contains(words[1]) == true, "\(row)")
    }
  }

  @Test func `a replay tells every effect of a life, and ends as the exploration did`() throws {
    let whole = try CommandResult(of: ["replay", "--shell", "--seed", "7"])
    #expect(whole.status == 0, "\(whole.output.suffix(500))")
    #expect(whole.output.contains("app: is launched") && whole.output.contains("nothing was broken"))
    #expect(try CommandResult(of: ["replay", "--shell", "--seed", "7"]).output == whole.output)
    let broken = try CommandResult(of: ["replay", "--shell", "--seed", "1", "--plant", "streamNeverEnds"])
    #expect(broken.status == 1)
    #expect(broken.output.contains("invariant S3 is broken"))
  }

  @Test func `a large run that misses a mark, or hardly looks at an invariant, is not good`() {
    var sum = ShellSum()
    sum.seeds = 1_000
    #expect(ShellReport(sum: sum, seconds: 1).missedMarks == ShellMark.allCases)
    #expect(ShellReport(sum: sum, seconds: 1).rarelyExercised == ShellInvariant.allCases)
    #expect(!ShellReport(sum: sum, seconds: 1).isGood)
    sum.marks = sum.marks.map { _ in 1 }
    sum.exercised = sum.exercised.map { _ in 500 }
    #expect(ShellReport(sum: sum, seconds: 1).isGood)
    sum.failures = [ShellSum.Failure(seed: 9, invariant: "14", what: "twice")]
    #expect(!ShellReport(sum: sum, seconds: 1).isGood)
    #expect(ShellReport(sum: sum, seconds: 1).lines.contains("purchase-simulator replay --shell --seed 9"))
  }

  @Test(arguments: [
    (["explore", "--shell", "--sedes", "3"], "did you mean '--seeds'"),
    (["explore", "--shell", "--plant", "leasekept"], "did you mean 'leaseKept'"),
    (["replay", "--shell", "--plant", "all"], "there is no planted bug of the shell 'all'"),
    (["replay", "--shell", "--seeds", "3"], "has no option '--seeds'"),
  ])
  func `what is asked for wrongly is told`(arguments: [String], told: String) throws {
    let result = try CommandResult(of: arguments)
    #expect(result.status == 64)
    #expect(result.errors.contains(told), "\(result.errors)")
  }
}
