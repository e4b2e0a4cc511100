import CommandLineTools
import CommandTestSupport
import Foundation
import TestSupport
import Testing

@testable import purchase_simulator

/// A report replaces regular files only.
@Suite struct ReportFileTests {
  private func link(_ path: String, to target: String) throws {
    try FileManager.default.createSymbolicLink(atPath: path, withDestinationPath: target)
  }

  @Test(arguments: [
    ("nowhere", "it is a link to nothing"), ("/nowhere/at/all.html", "it is a link to nothing"),
    // To itself.
    ("out.html", "it is a link to nothing"), (".", "it is a folder"), ("/dev/null", "it is no file"),
  ])
  func `a link that leads to no page is refused, and stays`(target: String, message: String) throws {
    try TemporaryDirectory.with("Link") { directory in
      let path = directory + "/out.html"
      try link(path, to: target)
      #expect(ReportFile.refusal(of: path) == message)
      #expect(!ReportFile.write(to: path) { Data("page".utf8) })
      #expect(try FileManager.default.destinationOfSymbolicLink(atPath: path) == target)
      #expect(try FileManager.default.contentsOfDirectory(atPath: directory) == ["out.html"])
    }
  }

  @Test func `a page replaces the target of a link`() throws {
    try TemporaryDirectory.with("Link") { directory in
      let (path, page) = (directory + "/out.html", directory + "/page.html")
      #expect(ReportFile.refusal(of: path) == nil)
      try Data("old".utf8).write(to: URL(fileURLWithPath: page))
      try link(path, to: "page.html")
      #expect(ReportFile.write(to: path) { Data("new".utf8) })
      #expect(try String(contentsOfFile: page, encoding: .utf8) == "new")
      #expect(try FileManager.default.destinationOfSymbolicLink(atPath: path) == "page.html")
    }
  }
}
