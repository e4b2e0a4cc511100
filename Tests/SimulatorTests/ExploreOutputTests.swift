import FaultInjection
import Foundation
import PurchaseQueue
import Testing

@testable import purchase_simulator

/// What `explore` prints, for people and for programs.
@Suite struct ExploreOutputTests {
  private func report(_ seeds: Int = 1, exercised: Int, hits: Int, plant: Plant? = nil) throws
    -> ExploreReport
  {
    var sum = try Explorer(.swarm, .memory, plant, jobs: 1).run(1..<3)
    sum.seeds = seeds
    sum.exercised = Array(repeating: exercised, count: Invariant.allCases.count + 1)
    sum.marks = Array(repeating: hits, count: Mark.allCases.count)
    return ExploreReport(options: ExploreOptions(), sum: sum, seconds: 1)
  }

  @Test func `every invariant has its number, how often it was exercised, and its sentence`() throws {
    let lines = try report(exercised: 4_321, hits: 1).lines
    for invariant in Invariant.allCases {
      let number = invariant.rawValue < 10 ? " \(invariant.rawValue)" : "\(invariant.rawValue)"
      let start = "      4321  \(number)  " + String(invariant.sentence.prefix(40))
      #expect(lines.contains { $0.hasPrefix(start) }, "\(start)")
    }
    for name in ["time to delivery: median ", "attempts: median ", "queue length: median "] {
      #expect(lines.contains { $0.hasPrefix(name) })
    }
    #expect(lines.last == "no invariant was broken")
  }

  @Test func `a large run that misses something is not good, and says what`() throws {
    let good = try report(1_000, exercised: 1_000, hits: 1)
    #expect(good.isGood && good.verdict == "no invariant was broken")
    let rare = try report(1_000, exercised: 150, hits: 1)
    #expect(
      !rare.isGood && rare.rarelyExercised.contains(.oneCredit) && !rare.rarelyExercised.contains(.poison))
    #expect(rare.lines.contains("invariant 2 was exercised too rarely: 150 times, not 1000"))
    let missed = try report(1_000, exercised: 1_000, hits: 0)
    #expect(!missed.isGood && missed.verdict == "no invariant was broken, but not every mark was hit")
    let line = try #require(missed.lines.first { $0.hasPrefix("not hit: ") })
    #expect(line.contains("queueFull, ") && line.contains("keptForSomebody"))
    // A queue in memory has nothing in its vault but orders.
    #expect(!line.contains("vaultRestored"))
  }

  @Test func `a small run may miss what is rare, and says that it did`() throws {
    let small = try report(999, exercised: 0, hits: 0)
    #expect(small.isGood && small.rarelyExercised == [])
    #expect(small.lines.contains { $0.hasPrefix("not hit: ") && $0.hasSuffix("1000 seeds of the swarm") })
  }

  @Test func `what was broken is said with its invariant, and of how many lives`() throws {
    let broken = try report(exercised: 1, hits: 1, plant: .finishBeforeAcknowledgement)
    #expect(!broken.isGood && broken.verdict == "2 of 1 life broke an invariant")
    #expect(broken.lines.contains("                BROKEN in 2 lives"))
    #expect(broken.lines.contains { $0.hasPrefix("seed 1: 3, ") })
    #expect(broken.document.failing.map(\.seed) == [1, 2])
    #expect(broken.document.invariants.first { $0.number == 3 }?.broken == 2)
  }

  @Test func `what was counted once is said in the singular`() throws {
    #expect(Counted.text(0, "act") == "0 acts" && Counted.text(1, "act") == "1 act")
    #expect(Counted.text(1, "life", "lives") == "1 life" && Counted.text(2, "life", "lives") == "2 lives")
    var sum = try Explorer(.swarm, .memory, .finishBeforeAcknowledgement, jobs: 1).run(1..<2)
    sum.exercised[Invariant.oneCredit.rawValue] = 1
    sum.seeds = 1_000
    let rare = ExploreReport(options: ExploreOptions(), sum: sum, seconds: 1)
    #expect(rare.lines.contains("invariant 2 was exercised too rarely: 1 time, not 1000"))
    sum.seeds = 1
    let report = ExploreReport(options: ExploreOptions(), sum: sum, seconds: 1)
    #expect(report.lines.first?.hasPrefix("1 life, ") == true)
    #expect(report.lines.contains("                BROKEN in 1 life"))
    #expect(report.verdict == "1 of 1 life broke an invariant")
    #expect(DeterminismCheck.verdict(1, of: 1) == "1 seed is the same run in two processes")
  }

  @Test func `what was ended before anything was through does not count to nothing`() {
    #expect(PlantSearch.verdict(0, of: 48, false) == "ended before any of 48 planted bugs was found")
    #expect(PlantSearch.verdict(0, of: 1, false) == "ended before the planted bug was found")
    #expect(PlantSearch.verdict(1, of: 48, false) == "ended after 1 of 48 planted bugs")
    #expect(PlantSearch.verdict(nil, of: 48, true) == "every planted bug was found")
    #expect(DeterminismCheck.verdict(0, of: 9) == "ended before any of 9 seeds was compared")
    #expect(
      DeterminismCheck.verdict(3, of: 9)
        == "3 seeds are the same run in two processes, and then it was ended before its time")
  }

  @Test func `for programs it is one document`() throws {
    let result = try CommandResult(of: ["explore", "--seeds", "3", "--from", "5", "--json"])
    #expect(result.status == 0 && result.errors.isEmpty)
    let document = try #require(
      try JSONSerialization.jsonObject(with: Data(result.output.utf8)) as? [String: Any])
    #expect(document["seeds"] as? Int == 3 && document["from"] as? Int == 5)
    #expect(document["good"] as? Bool == true && document["failures"] as? Int == 0)
    #expect((document["invariants"] as? [Any])?.count == 26)
    #expect((document["marks"] as? [String: Int])?.count == Mark.allCases.count)
    #expect((document["distributions"] as? [[String: Any]])?.first?["median"] is String)
  }

  // MARK: Planted bugs

  @Test func `each invariant has a planted bug of its own`() {
    #expect(Set(Invariant.allCases.map(\.plant)).count == Invariant.allCases.count)
  }

  @Test func `an invariant that no planted bug breaks is a failure, and is named`() throws {
    func row(_ invariant: Invariant) -> PlantSearch.Row {
      PlantSearch.Row(plant: "any", summary: "", invariant: invariant.rawValue, acts: 1, seconds: 0)
    }
    let all = PlantCoverage(Invariant.allCases.map(row))
    #expect(all.isWhole && all.lines == ["each of the 26 invariants is broken by a planted bug"])
    var some = PlantCoverage(Invariant.allCases.filter { $0 != .cap && $0 != .binding }.map(row))
    #expect(some.missing == [.cap, .binding])
    #expect(some.lines.first == "invariant 7 is broken by no planted bug: the cap is never exceeded")
    some.add(try Explorer(.swarm, .memory, .capIgnored, jobs: 1).run(1..<30))
    #expect(some.missing == [.binding])
  }

  @Test func `a story that is not small, or a bug that is not found, is not good`() {
    #expect(PlantSearch.Row(plant: "a", summary: "", invariant: 1, acts: 12, seconds: 0).isGood)
    #expect(!PlantSearch.Row(plant: "a", summary: "", invariant: 1, acts: 13, seconds: 0).isGood)
    #expect(!PlantSearch.Row(plant: "a", summary: "", seconds: 0).isGood)
  }

  @Test func `a planted bug is told with its story, or as a document`() throws {
    let told = try CommandResult(of: ["explore", "--plant", "newestFirst"])
    #expect(told.status == 0)
    #expect(told.output.contains("invariant 5 is broken (first attempts in a lane are first in, first out)"))
    #expect(told.output.hasSuffix("every planted bug was found\n"))
    let document = try CommandResult(of: ["explore", "--plant", "newestFirst", "--json"])
    #expect(document.status == 0 && document.output.contains("\"invariant\":5"))
  }
}
