import CommandTestSupport
import Foundation
import TestSupport
import Testing

@testable import purchase_simulator

/// The comparison of the clients, by the real binary.
@Suite struct CompareTests {
  private struct Total: Decodable {
    var client: String
    var runs: Int?
    var clean: Int?
    var paid: Int
    var granted: Int
    var lost: Int
    var doubled: Int
    var wrongAccount: Int
    var stuck: Int
    var unfinished: Int
    var pending: Int
  }

  @Test func `only the engine's column is clean`() throws {
    let names = LongTests.some(
      ["reinstall-offline", "backend-outage", "captive-portal", "man-in-the-middle"], every: 3)
    let result = try CommandResult(of: ["compare", "--json"] + names)
    #expect(result.status == 0)
    let rows = try result.output.split(separator: "\n").map {
      try JSONDecoder().decode(Total.self, from: Data($0.utf8))
    }
    let totals = rows.filter { $0.runs != nil }
    #expect(rows.count == (names.count + 1) * Client.allCases.count)
    #expect(totals.map(\.client) == Client.allCases.map(\.rawValue))
    for total in totals {
      #expect(total.runs == names.count && total.paid == total.granted + total.lost + total.stuck, "\(total)")
      #expect((total.clean == names.count) == (total.client == "engine"), "\(total)")
    }
  }

  @Test func `a table has a row per scenario, with counts of what went wrong`() throws {
    let result = try CommandResult(of: [
      "compare", "reinstall-offline", "--client", "engine", "--client", "finish-first",
    ])
    #expect(result.status == 0)
    let lines = result.output.split(separator: "\n").map(String.init)
    #expect(
      lines.contains {
        $0.hasPrefix("reinstall-offline ") && $0.hasSuffix("      1L") && $0.contains(" ok 0 ")
      })
    for line in lines { #expect(line.count <= 80, "\(line)") }
  }
}
