import CommandTestSupport
import Foundation
import ScenarioFormat
import TestSupport
import Testing

@testable import purchase_simulator

/// `run`, by the real binary.
@Suite struct RunTests {
  private struct Row: Decodable {
    var scenario: String
    var client: String
    var paid: Int
    var granted: Int
    var lost: Int
    var doubled: Int
    var wrongAccount: Int
    var unfinished: Int
    var pending: Int
    var seconds: Double
    var secondsToDelivery: Double?
    var uploads: Int
    var finishes: Int
    var listings: Int
  }

  /// Scenarios that a debug build plays quickly: every eighth in the short run. The README's first command plays all, and
  /// CI plays all with kills at moments that follow from the commit.
  private static let quick = LongTests.some(
    Scenario.all.map(\.name).filter { $0 != "redelivery-storm" }, every: 8)

  private func rows(_ output: String) throws -> [Row] {
    try output.split(separator: "\n").map { try JSONDecoder().decode(Row.self, from: Data($0.utf8)) }
  }

  @Test(arguments: [LongTests.areOn ? [] : ["--chaos", "--seed", "3"]])
  func `the engine loses and doubles nothing in any scenario`(extra: [String]) throws {
    let result = try CommandResult(of: ["run", "--json"] + Self.quick + extra)
    #expect(result.status == 0)
    let rows = try rows(result.output)
    #expect(rows.map(\.scenario) == Self.quick)
    // A purchase that the app itself brings to the backend is measured; each selection has several.
    #expect(rows.contains { $0.secondsToDelivery != nil })
    let asking = Scenario.all.filter(\.asksToWait).map(\.name)
    for row in rows {
      #expect(row.paid > 0 && row.granted == row.paid && row.wrongAccount == 0, "\(row)")
      // A backend that asks for a pause gets it.
      if !asking.contains(row.scenario) { #expect(row.secondsToDelivery ?? 0 <= 60, "\(row)") }
      #expect(row.lost == 0 && row.doubled == 0 && row.pending == 0 && row.unfinished == 0, "\(row)")
    }
  }

  @Test func `the naive app loses purchases, and never changes the exit code`() throws {
    let names = ["backend-outage", "crash-after-enqueue"]
    let result = try CommandResult(of: ["run", "--json", "--client", "fire-and-forget"] + names)
    #expect(result.status == 0)
    #expect(try rows(result.output).filter { $0.lost > 0 }.map(\.scenario) == names)
  }

  @Test func `a run of one scenario has a line with its requests, and the table of two has none`()
    throws
  {
    let one = try CommandResult(of: ["run", "purchase"])
    #expect(one.output.contains("requests: 1 upload, 1 finish, "))
    let two = try CommandResult(of: ["run", "purchase", "same-product-twice"])
    #expect(!two.output.contains("requests:"))
    let row = try #require(try rows(CommandResult(of: ["run", "--json", "purchase"]).output).first)
    #expect(row.uploads == 1 && row.finishes == 1 && row.listings >= 1)
  }

  @Test func `an unknown scenario is wrong usage`() throws {
    #expect(try CommandResult(of: ["run", "no-such-thing"]).status == 64)
  }

  @Test func `the list of scenarios has a line for each`() throws {
    let result = try CommandResult(of: ["scenarios"])
    #expect(result.status == 0)
    #expect(result.output.split(separator: "\n").count == Scenario.all.count)
    for line in result.output.split(separator: "\n") { #expect(line.count <= 110, "\(line)") }
  }
}
