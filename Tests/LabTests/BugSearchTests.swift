import CommandLineTools
import CommandTestSupport
import Foundation
import TestSupport
import Testing

@testable import purchase_lab

/// `explore --plant`: which runs are searched, and which of them is reported.
@Suite struct BugSearchTests {
  private struct Document: Decodable {
    struct Row: Decodable, Equatable {
      var invariant: Int?
      var seeds: Int?
      var acts: Int?
      var runs: Int?
      var replay: String?
    }

    var plants: [Row]
  }

  private func find(_ plant: String, _ options: [String] = []) throws -> (status: Int32, row: Document.Row) {
    let result = try CommandResult(of: ["explore", "--json", "--plant", plant] + options, by: .lab)
    let document = try JSONDecoder().decode(Document.self, from: Data(result.output.utf8))
    return (result.status, try #require(document.plants.first))
  }

  @Test func `the number of threads does not change which run is reported`() throws {
    for plant in LongTests.some(["newestFirst", "keysByInstallation", "timerLost"], every: 3) {
      let alone = try find(plant, ["--jobs", "1"])
      #expect(alone.status == 0)
      for jobs in LongTests.some(["5", "2", "16"], every: 3) {
        let together = try find(plant, ["--jobs", jobs])
        #expect(together.row == alone.row, "\(jobs) threads")
      }
    }
  }

  @Test func `only the given seeds of the given profile are tried`() throws {
    let plant = "wrongAccountAfterSwitch"
    let found = try find(plant, ["--profile", "swarm", "--seeds", "14"])
    #expect(found.status == 0 && found.row.seeds == 14)
    #expect(found.row.replay?.contains("replay --seed 14 --profile swarm ") == true)
    let none = try find(plant, ["--profile", "swarm", "--seeds", "4", "--from", "10"])
    #expect(none.status == 1 && none.row == Document.Row())
    let one = try find(plant, ["--profile", "swarm", "--seeds", "1", "--from", "14"])
    #expect(one.status == 0 && one.row.seeds == 1)
    // The runs of the earlier profiles count as well.
    let elsewhere = try find("enqueueNotDurable", ["--seeds", "2", "--from", "12"])
    #expect(elsewhere.status == 0 && elsewhere.row.seeds == 3)
    #expect(elsewhere.row.replay?.contains("replay --seed 12 --profile crash ") == true)
  }

  @Test(.enabled(if: LongTests.areOn))
  func `a smaller scenario is searched among the given seeds only`() throws {
    // Many seeds break the invariant, and few of them early.
    let few = try find("tombstonesUnbounded", ["--profile", "swarm", "--seeds", "3"])
    #expect(few.status == 1 && few.row.seeds == 2 && (few.row.acts ?? 0) > 12)
    let isAmongThem = [2, 3].contains { few.row.replay?.contains("replay --seed \($0) ") == true }
    #expect(isAmongThem, "\(few.row)")
  }

  @Test(.enabled(if: LongTests.areOn))
  func `a given profile is the only one`() throws {
    for profile in ["crash", "store"] {
      let row = try find("newestFirst", ["--profile", profile]).row
      #expect(row.replay?.contains(" --profile \(profile) ") == true, "\(row)")
    }
    // In that profile no other account signs in.
    let calm = try find("wrongAccountAfterSwitch", ["--profile", "calm", "--seeds", "200"])
    #expect(calm.status == 1 && calm.row.invariant == nil)
    #expect(try find("wrongAccountAfterSwitch", ["--seeds", "200"]).status == 0)
  }
}
