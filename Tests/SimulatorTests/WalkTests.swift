import CommandLineTools
import Foundation
import Testing

@testable import purchase_simulator

/// The walk of the documentation, line by line, against `serve`.
@Suite(.enabled(if: FileManager.default.isExecutableFile(atPath: "/usr/bin/curl")))
struct WalkTests {
  private var script: String {
    get throws {
      let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()
      let path = root.appendingPathComponent("Sources/PurchaseSyncTesting/PurchaseSyncTesting.docc/Walk.md")
      var lines: [Substring] = []
      var isCode = false
      for line in try String(contentsOf: path, encoding: .utf8).split(
        separator: "\n", omittingEmptySubsequences: false)
      {
        if line.hasPrefix("```") { isCode = line == "```sh" } else if isCode { lines.append(line) }
      }
      return "set -euo pipefail\n" + lines.joined(separator: "\n")
    }
  }

  @Test func `every line of the walk works`() throws {
    let (server, base) = try Served.start()
    defer {
      server.terminate()
      server.waitUntilExit()
    }
    let script = try self.script
    #expect(script.contains("verifyReceipt"))
    let walk = Process()
    walk.executableURL = URL(fileURLWithPath: "/bin/bash")
    walk.arguments = ["-c", script]
    walk.environment = ProcessInfo.processInfo.environment.merging(["BASE": base]) { $1 }
    let said = Pipe()
    walk.standardOutput = said
    walk.standardError = said
    try walk.begin()
    let answers = said.fileHandleForReading.readDataToEndOfFile()
    walk.waitUntilExit()
    #expect(walk.terminationStatus == 0, "\(String(decoding: answers, as: UTF8.self).suffix(500))")
  }
}
