import CommandLineTools
import CommandTestSupport
import Exploration
import Foundation
import PurchaseQueue
import TestSupport
import Testing

@testable import purchase_lab

/// The output of `explore`, for people and for programs.
@Suite struct ExploreOutputTests {
  private func report(_ seeds: Int = 1, exercised: Int, hits: Int, bug: MachineBug? = nil) throws
    -> ExploreReport
  {
    var sum = try Explorer(.swarm, .memory, bug, jobs: 1).run(1..<3)
    sum.runs = seeds
    sum.exercised = Array(repeating: exercised, count: MachineInvariant.allCases.count)
    sum.marks = Array(repeating: hits, count: MachineMark.allCases.count)
    return ExploreReport(options: ExploreOptions(), sum: sum, seconds: 1)
  }

  @Test func `every invariant has its number, how often it was exercised, and its sentence`() throws {
    let lines = try report(exercised: 4_321, hits: 1).lines
    for invariant in MachineInvariant.allCases {
      let number = invariant.rawValue < 10 ? " \(invariant.rawValue)" : "\(invariant.rawValue)"
      let start = "      4321  \(number)  " + String(invariant.sentence.prefix(40))
      #expect(lines.contains { $0.hasPrefix(start) }, "\(start)")
    }
    for name in ["time to delivery: median ", "attempts: median ", "queue length: median "] {
      #expect(lines.contains { $0.hasPrefix(name) })
    }
    #expect(lines.last == "no invariant was broken")
  }

  @Test func `a large run that misses a mark is not good, and names the mark`() throws {
    let good = try report(1_000, exercised: 1_000, hits: 1)
    #expect(good.isGood && good.verdict == "no invariant was broken")
    let rare = try report(1_000, exercised: 150, hits: 1)
    #expect(
      !rare.isGood && rare.rarelyExercised.contains { $0.number == 2 }
        && !rare.rarelyExercised.contains { $0.number == 25 })
    #expect(rare.lines.contains("invariant 2 was exercised too rarely: 150 times, not 1000"))
    let missed = try report(1_000, exercised: 1_000, hits: 0)
    #expect(!missed.isGood && missed.verdict == "no invariant was broken, but not every mark was hit")
    let line = try #require(missed.lines.first { $0.hasPrefix("not hit: ") })
    #expect(line.contains("queueFull, ") && line.contains("keptForSupport"))
    // A queue in memory keeps only orders in its vault.
    #expect(!line.contains("vaultRestored"))
  }

  @Test func `a small run may miss a rare mark, and reports it`() throws {
    let small = try report(999, exercised: 0, hits: 0)
    #expect(small.isGood && small.rarelyExercised.isEmpty)
    #expect(small.lines.contains { $0.hasPrefix("not hit: ") && $0.hasSuffix("1000 seeds of the swarm") })
  }

  @Test func `a broken invariant is printed with its sentence and the number of runs`() throws {
    let broken = try report(exercised: 1, hits: 1, bug: .finishBeforeAcknowledgement)
    #expect(!broken.isGood && broken.verdict == "2 of 1 run broke an invariant")
    #expect(broken.lines.contains("                BROKEN in 2 runs"))
    #expect(broken.lines.contains { $0.hasPrefix("seed 1: 3, ") })
    #expect(broken.document.failing.map(\.seed) == [1, 2])
    #expect(broken.document.invariants.first { $0.number == 3 }?.broken == 2)
  }

  @Test func `a count of one is printed in the singular`() throws {
    #expect(Counted.text(0, "act") == "0 acts" && Counted.text(1, "act") == "1 act")
    #expect(Counted.text(1, "seed is", "seeds are") == "1 seed is")
    #expect(Counted.text(2, "seed is", "seeds are") == "2 seeds are")
    var sum = try Explorer(.swarm, .memory, .finishBeforeAcknowledgement, jobs: 1).run(1..<2)
    sum.exercised[MachineInvariant.oneCredit.place] = 1
    sum.runs = 1_000
    let rare = ExploreReport(options: ExploreOptions(), sum: sum, seconds: 1)
    #expect(rare.lines.contains("invariant 2 was exercised too rarely: 1 time, not 1000"))
    sum.runs = 1
    let report = ExploreReport(options: ExploreOptions(), sum: sum, seconds: 1)
    #expect(report.lines.first?.hasPrefix("1 run, ") == true)
    #expect(report.lines.contains("                BROKEN in 1 run"))
    #expect(report.verdict == "1 of 1 run broke an invariant")
    #expect(
      DeterminismCheck.verdict(1, of: 1, different: 1)
        == "1 seed is the same run in two processes: 1 different run")
  }

  @Test func `an exploration that ends before its first run prints no zero counts`() {
    #expect(BugSearch.verdict(0, of: 48, false) == "ended before any of 48 planted bugs was found")
    #expect(BugSearch.verdict(0, of: 1, false) == "ended before the planted bug was found")
    #expect(BugSearch.verdict(1, of: 48, false) == "ended after 1 of 48 planted bugs")
    #expect(BugSearch.verdict(nil, of: 48, true) == "every planted bug was found")
    #expect(DeterminismCheck.verdict(0, of: 9, different: 0) == "ended before any of 9 seeds was compared")
    #expect(
      DeterminismCheck.verdict(3, of: 9, different: 3)
        == "3 seeds are the same run in two processes: 3 different runs, ended before its time")
  }

  @Test func `the output for programs is one document`() throws {
    let result = try CommandResult(of: ["explore", "--seeds", "3", "--from", "5", "--json"], by: .lab)
    #expect(result.status == 0 && result.errors.isEmpty)
    let document = try #require(
      try JSONSerialization.jsonObject(with: Data(result.output.utf8)) as? [String: Any])
    #expect(document["seeds"] as? Int == 3 && document["from"] as? Int == 5)
    #expect(document["good"] as? Bool == true && document["failures"] as? Int == 0)
    #expect((document["invariants"] as? [Any])?.count == MachineInvariant.allCases.count)
    #expect((document["marks"] as? [String: Int])?.count == MachineMark.allCases.count)
    #expect((document["distributions"] as? [[String: Any]])?.first?["median"] is String)
  }

  // MARK: Planted bugs

  @Test func `each invariant of the machine has its own planted bug`() {
    #expect(
      Set(MachineRunner.catalogue.invariants.compactMap(\.bug)).count == MachineInvariant.allCases.count)
  }

  @Test func `an invariant that no planted bug breaks is a failure, and is named`() throws {
    func row(_ invariant: MachineInvariant) -> BugSearch.Row {
      BugSearch.Row(plant: "any", summary: "", invariant: invariant.number, acts: 1, seconds: 0)
    }
    let catalogue = MachineRunner.catalogue
    let all = BugCoverage(catalogue, MachineInvariant.allCases.map(row))
    #expect(all.isWhole)
    #expect(all.lines(catalogue) == ["each of the 38 invariants is broken by a planted bug"])
    var some = BugCoverage(
      catalogue, MachineInvariant.allCases.filter { $0 != .limit && $0 != .binding }.map(row))
    #expect(some.missing == [7, 9])
    #expect(
      some.lines(catalogue).first
        == "invariant 7 is broken by no planted bug: the limit of entries is never exceeded")
    some.add(try Explorer(.swarm, .memory, .limitIgnored, jobs: 1).run(1..<30))
    #expect(some.missing == [9])
  }

  @Test func `a search is not good if its run is not small or the bug is not found`() {
    #expect(BugSearch.Row(plant: "a", summary: "", invariant: 1, acts: 12, seconds: 0).isGood)
    #expect(!BugSearch.Row(plant: "a", summary: "", invariant: 1, acts: 13, seconds: 0).isGood)
    #expect(!BugSearch.Row(plant: "a", summary: "", seconds: 0).isGood)
  }

  @Test func `a planted bug is printed with its events, or as a document`() throws {
    let told = try CommandResult(of: ["explore", "--plant", "newestFirst"], by: .lab)
    #expect(told.status == 0)
    #expect(told.output.contains("invariant 5 is broken (first attempts in a lane are first in, first out)"))
    #expect(told.output.hasSuffix("every planted bug was found\n"))
    let document = try CommandResult(of: ["explore", "--plant", "newestFirst", "--json"], by: .lab)
    #expect(document.status == 0 && document.output.contains("\"invariant\":5"))
  }

  @Test func `an exploration refuses a bad path before its work`() throws {
    try TemporaryDirectory.with("Link") { directory in
      let path = directory + "/out.html"
      try FileManager.default.createSymbolicLink(atPath: path, withDestinationPath: "nowhere")
      let result = try CommandResult(
        of: ["explore", "--seeds", "1000000", "--report", path], by: .lab)
      #expect(result.status == 70 && result.output.isEmpty)
      #expect(result.errors.contains("could not be written: it is a link to nothing"), "\(result.errors)")
    }
  }
}
