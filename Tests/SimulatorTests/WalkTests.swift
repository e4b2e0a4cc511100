import Foundation
import Testing

@testable import purchase_simulator

/// The walk of the documentation, as it stands there, against `serve`.
@Suite(.timeLimit(.minutes(4)), .enabled(if: FileManager.default.isExecutableFile(atPath: "/usr/bin/curl")))
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
    let server = Process()
    let output = Pipe()
    server.executableURL = RunTests.binary
    server.arguments = ["serve", "--port", "0"]
    server.standardOutput = output
    try server.run()
    defer {
      server.terminate()
      server.waitUntilExit()
    }
    var text = ""
    while !text.contains("Ctrl-C") {
      let data = output.fileHandleForReading.availableData
      guard !data.isEmpty else { break }
      text += String(decoding: data, as: UTF8.self)
    }
    let words = text.split(whereSeparator: { $0 == " " || $0 == "\n" }).map(String.init)
    let page = try #require(words.first { $0.hasPrefix("http://127.0.0.1:") && $0.hasSuffix("/") })
    let script = try self.script
    #expect(script.contains("verifyReceipt"))
    let walk = Process()
    walk.executableURL = URL(fileURLWithPath: "/bin/bash")
    walk.arguments = ["-c", script]
    walk.environment = ProcessInfo.processInfo.environment.merging(["BASE": String(page.dropLast())]) { $1 }
    let said = Pipe()
    walk.standardOutput = said
    walk.standardError = said
    try walk.run()
    let answers = said.fileHandleForReading.readDataToEndOfFile()
    walk.waitUntilExit()
    #expect(walk.terminationStatus == 0, "\(String(decoding: answers, as: UTF8.self).suffix(500))")
  }
}
