import Foundation
import PurchaseQueue
import PurchaseSyncTesting
import Testing

@testable import purchase_simulator

/// The status page in a real browser; not run where none is installed.
@Suite(.timeLimit(.minutes(4)), .enabled(if: Browser.path != nil, "no Chromium is installed"))
struct StatusPageTests {
  @Test(arguments: [1_280, 360])
  func `the page shows what happened, without an error, on a desk and on a phone`(width: Int) async throws {
    _ = try await Served.world { server, lab, directory in
      let (order, paid) = try await lab.paidOrder(storeAccount: "<b>apple</b>")
      server.setFaults(
        try JSONDecoder().decode(
          FaultPlanDocument.self,
          from: Data(#"{"rules":[{"path":"/v1/receipts","fault":"reset","count":2}]}"#.utf8)))
      let page = try Browser.page(server.baseURL.absoluteString + "/", width: width, directory)
      #expect(page.complaints == [])
      #expect(page.dom.contains("<td>\(order.number)</td>"))
      #expect(page.dom.contains("<td>\(paid.transactionID)</td>"))
      #expect(page.dom.contains("reset at  /v1/receipts, 2 times"))
      // What others write is text, never markup.
      #expect(page.dom.contains("<td>&lt;b&gt;apple&lt;/b&gt;</td>"))
    }
  }
}

/// As much of headless Chromium as a look at a page needs.
private enum Browser {
  static let path = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"]
    .first { FileManager.default.isExecutableFile(atPath: $0) }

  struct Page {
    var dom: String
    /// What scripts and policies complained of.
    var complaints: [String]
  }

  /// The page after its scripts have run for two seconds of virtual time.
  static func page(_ url: String, width: Int, _ directory: String) throws -> Page {
    let process = Process()
    let output = Pipe()
    let log = directory + "/log"
    try Data().write(to: URL(fileURLWithPath: log))
    process.executableURL = URL(fileURLWithPath: path ?? "")
    process.arguments = [
      "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run",
      "--user-data-dir=" + directory + "/profile", "--window-size=\(width),800", "--enable-logging=stderr",
      "--virtual-time-budget=2000", "--dump-dom", url,
    ]
    process.standardOutput = output
    process.standardError = try FileHandle(forWritingTo: URL(fileURLWithPath: log))
    try process.run()
    let dom = output.fileHandleForReading.readDataToEndOfFile()
    process.waitUntilExit()
    let lines = try String(contentsOfFile: log, encoding: .utf8).split(separator: "\n").map(String.init)
    return Page(
      dom: String(decoding: dom, as: UTF8.self), complaints: lines.filter { $0.contains(":CONSOLE") })
  }
}
