import Foundation
import Testing

@testable import purchase_simulator

/// The real binary, run as a person runs it.
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
  }

  /// Those that a debug build plays in a moment; the others are in the readme's first command.
  private static let quick = Scenario.all.map(\.name).filter { $0 != "redelivery-storm" }

  /// The executable stands beside the test bundle.
  static var binary: URL {
    let argument = ProcessInfo.processInfo.arguments.first { $0.hasSuffix(".xctest") }
    let bundle = URL(fileURLWithPath: argument ?? CommandLine.arguments[0])
    return bundle.deletingLastPathComponent().appendingPathComponent("purchase-simulator")
  }

  static func run(_ arguments: [String]) throws -> (status: Int32, output: String) {
    let process = Process()
    let pipe = Pipe()
    process.executableURL = binary
    process.arguments = arguments
    process.standardOutput = pipe
    process.standardError = FileHandle.nullDevice
    try process.begin()
    let output = pipe.fileHandleForReading.readDataToEndOfFile()
    process.waitUntilExit()
    return (process.terminationStatus, String(decoding: output, as: UTF8.self))
  }

  private func rows(_ output: String) throws -> [Row] {
    try output.split(separator: "\n").map { try JSONDecoder().decode(Row.self, from: Data($0.utf8)) }
  }

  @Test(.timeLimit(.minutes(4)), arguments: [[], ["--chaos", "--seed", "3"], ["--chaos", "--seed", "11"]])
  func `the engine loses and doubles nothing in any scenario`(extra: [String]) throws {
    let result = try Self.run(["run", "--json"] + Self.quick + extra)
    #expect(result.status == 0)
    let rows = try rows(result.output)
    #expect(rows.map(\.scenario) == Self.quick)
    for row in rows {
      #expect(row.paid > 0 && row.granted == row.paid && row.wrongAccount == 0, "\(row)")
      #expect(row.lost == 0 && row.doubled == 0 && row.pending == 0 && row.unfinished == 0, "\(row)")
    }
  }

  @Test(.timeLimit(.minutes(4))) func `the naive app loses purchases, and never changes the exit code`()
    throws
  {
    let result = try Self.run(["run", "--json", "--client", "fire-and-forget"] + Self.quick)
    #expect(result.status == 0)
    let lost = Set(try rows(result.output).filter { $0.lost > 0 }.map(\.scenario))
    #expect(lost.isSuperset(of: ["backend-outage", "crash-after-enqueue"]))
  }

  @Test func `an unknown scenario is wrong usage`() throws {
    #expect(try Self.run(["run", "no-such-thing"]).status == 64)
  }

  @Test func `scenarios are listed a line each`() throws {
    let result = try Self.run(["scenarios"])
    #expect(result.status == 0)
    #expect(result.output.split(separator: "\n").count == Scenario.all.count)
    for line in result.output.split(separator: "\n") { #expect(line.count <= 110, "\(line)") }
  }
}
