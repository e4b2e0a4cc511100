import CommandLineTools
import CommandTestSupport
import Foundation
import TestSupport
import Testing

@testable import purchase_simulator

/// The page as bytes: nothing in a report can become markup or a script.
struct ReportPageTests {
  @Test func `no text of a report ends the script that contains it`() throws {
    var report = ReportSample.compare
    report.title = "</script><script>alert(1)</script><!--"
    report.note = "one\u{2028}two\u{2029}three, äöü €"
    let page = String(decoding: try ReportPage.html(report), as: UTF8.self)
    let opening = #"<script type="application/json" id="report">"#
    let parts = page.components(separatedBy: opening)
    #expect(parts.count == 2)
    let json = try #require(parts.last?.components(separatedBy: "</script>").first)
    #expect(!json.contains("<"))
    #expect(!json.unicodeScalars.contains("\u{2028}") && !json.unicodeScalars.contains("\u{2029}"))
    // Escaped, it is the same text.
    let read = try JSONDecoder().decode(Head.self, from: Data(json.utf8))
    #expect(read == Head(title: report.title, note: report.note))
    #expect(page.components(separatedBy: "<script").count == 3)
    #expect(page.components(separatedBy: "</script>").count == 3)
  }

  private struct Head: Decodable, Equatable {
    var title: String
    var note: String?
  }

  @Test func `a report that contains the placeholder is inserted once`() throws {
    var report = ReportSample.compare
    report.title = "REPORT_JSON"
    let page = String(decoding: try ReportPage.html(report), as: UTF8.self)
    #expect(page.components(separatedBy: "REPORT_JSON").count == 2)
  }

  @Test func `the page makes no network requests`() throws {
    let page = String(decoding: try ReportPage.html(ReportSample.compare), as: UTF8.self)
    let policy = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline';"
    #expect(page.contains("content=\"\(policy)"))
    // The one address in it is the name of SVG.
    #expect(page.components(separatedBy: "://").count == 2)
    #expect(page.contains("http://www.w3.org/2000/svg"))
  }

  @Test func `the page has words for each state, kind and lane`() throws {
    let page = String(decoding: try ReportPage.html(ReportSample.compare), as: UTF8.self)
    for state in Report.CellState.allCases { #expect(page.contains("\n  \(state.rawValue): [")) }
    for kind in Report.Kind.allCases { #expect(page.contains("\n  \(kind.rawValue): [")) }
    let lanes = Report.Lane.allCases.map { "\"\($0.rawValue)\"" }.joined(separator: ", ")
    #expect(page.contains("const lanes = [\(lanes)];"))
  }

  @Test func `the page is as large as its data and its template`() throws {
    let small = try ReportPage.html(ReportSample.large(cells: 4)).count
    let large = try ReportPage.html(ReportSample.large(cells: 300)).count
    // About 100 bytes for an event, of which there are 100 in a cell.
    #expect(large - small < 296 * 100 * 120)
  }
}

/// The page in a real browser; skipped if none is installed.
@Suite(.serialized, .enabled(if: Browser.path != nil, "no Chromium is installed"))
struct ReportBrowserTests {
  /// The page of a report in the browser, after `script` has run after the page's own.
  private func page(
    _ report: Report, fragment: String = "", width: Int = 1_280, script: String = ""
  ) throws -> Browser.Page {
    try TemporaryDirectory.with("ReportPage") { directory in
      let html = try ReportPage.html(report) + Data("<script>\(script)</script>".utf8)
      return try Browser.framedPage(html, fragment: fragment, width: width, directory)
    }
  }

  @Test(arguments: [1_280, 360])
  func `matrix and time line are drawn without an error, on a desk and on a phone`(width: Int) throws {
    let page = try page(ReportSample.compare, fragment: "crash-loop/engine", width: width)
    #expect(page.complaints == [])
    #expect(page.dom.contains("data-width=\"\(width)\""))
    #expect(page.dom.contains("data-overflow=\"false\""), "the page scrolls sideways")
    #expect(page.dom.contains("aria-label=\"crash-loop, engine: ok\" aria-current=\"true\""))
    #expect(page.dom.contains("aria-label=\"backend-outage, finish-first: 1 stuck\""))
    #expect(page.dom.contains("<small>12 of 12 clean</small>"))
    #expect(page.dom.contains("<code>purchase-simulator run crash-loop --client engine --seed 7</code>"))
    #expect(page.dom.contains("<svg "))
    for text in [
      "buys gems.100", "POST /v1/orders", "503, Retry-After 2", "killed while it waits", "100 gems to alice",
      "waits 340 ms", "123 ms pass, and no app runs",
    ] {
      #expect(page.dom.contains(">\(text)</text>"), "\(text)")
    }
    let label = "at 13 ms, app to backend, request: POST /v1/orders"
    #expect(page.dom.contains("aria-label=\"\(label)"))
    // The time line is drawn, and listed for screen readers.
    #expect(page.dom.components(separatedBy: "<li>388 ms, app, kill: killed while it waits").count == 2)
  }

  @Test(arguments: [
    ("", "backend-outage, finish-first: 1 stuck"), ("#nonsense/%", "backend-outage, finish-first: 1 stuck"),
    ("disk-full/keychain-list", "disk-full, keychain-list: failed"),
  ])
  func `the cell of the link is shown first, or else the first that is not clean`(
    fragment: String, label: String
  ) throws {
    let page = try page(ReportSample.compare, fragment: fragment)
    #expect(page.complaints == [])
    #expect(page.dom.contains("aria-label=\"\(label)\" aria-current=\"true\""))
    #expect(page.dom.components(separatedBy: "aria-current=\"true\"").count == 2)
  }

  @Test func `repeated events are folded, and can be unfolded`() throws {
    let folded = try page(ReportSample.compare, fragment: "backend-outage/engine")
    #expect(folded.complaints == [])
    #expect(folded.dom.contains(">… 39 more of these 3, in 2.34 s</text>"))
    #expect(folded.dom.components(separatedBy: ">503</text>").count == 2)
    #expect(folded.dom.components(separatedBy: "app → backend, request: POST /v1/receipts</li>").count == 42)
    let unfolded = try page(
      ReportSample.compare, fragment: "backend-outage/engine",
      script: "document.querySelector('.fold').dispatchEvent(new KeyboardEvent('keydown', { key: 'Enter' }))")
    #expect(unfolded.complaints == [])
    #expect(unfolded.dom.contains("aria-expanded=\"true\""))
    #expect(unfolded.dom.components(separatedBy: ">503</text>").count == 41)
  }

  @Test func `a refusal and a success are never folded into one`() throws {
    var report = ReportSample.compare
    report.timelines[1].events = (0..<20).map { number in
      Report.Event(
        at: Double(number), lane: .backend, to: .app, kind: .answer, text: number == 10 ? "200" : "503")
    }
    let page = try page(report, fragment: "backend-outage/engine")
    #expect(page.dom.contains(">200</text>"))
    #expect(page.dom.components(separatedBy: ">503</text>").count == 3)
  }

  @Test func `the arrow keys move between cells, and the filter hides clean rows`() throws {
    let page = try page(
      ReportSample.compare, fragment: "purchase/engine",
      script: """
        const press = key => document.activeElement.dispatchEvent(
          new KeyboardEvent("keydown", { key, bubbles: true }));
        document.querySelector("[aria-current]").focus();
        press("ArrowDown");
        press("ArrowRight");
        document.activeElement.click();
        document.querySelector("[value=unclean]").click();
        """)
    #expect(page.complaints == [])
    #expect(page.dom.contains("aria-label=\"backend-outage, fire-and-forget: ok\" aria-current=\"true\""))
    #expect(page.dom.contains("<tr data-clean=\"true\" hidden=\"\"><th scope=\"row\">purchase</th>"))
    #expect(page.dom.contains("<tr data-clean=\"false\"><th scope=\"row\">disk-full</th>"))
  }

  @Test func `texts of the report are never markup`() throws {
    let bad = "<img src=x onerror=\"console.error('run')\"></script>"
    var report = ReportSample.compare
    report.note = bad
    report.rows[0] = bad
    report.cells[0] = Report.Cell(
      row: bad, column: "engine", words: bad, state: .lost, figures: [Report.Figure(name: bad, value: bad)],
      replay: bad, timeline: 0, detail: bad)
    report.subjects[0].name = bad
    report.subjects[0].text = bad
    report.timelines[0].title = bad
    report.timelines[0].events[1].text = bad
    report.timelines[0].events[1].detail = bad
    let page = try page(report)
    #expect(page.complaints == [])
    #expect(!page.dom.contains("<img"))
    #expect(page.dom.contains("<th scope=\"row\">&lt;img src=x"))
  }

  @Test func `only one of 300 time lines is drawn`() throws {
    let page = try page(ReportSample.large(cells: 300), fragment: "failpoint-74/reinstall")
    #expect(page.complaints == [])
    #expect(page.dom.components(separatedBy: "class=\"cell clean\"").count == 301)
    #expect(page.dom.components(separatedBy: "class=\"diagram\"").count == 2)
    #expect(page.dom.contains("Time line: failpoint-74, reinstall</h3>"))
  }

  @Test func `an empty report says that nothing was run`() throws {
    let page = try page(
      Report(title: "empty", command: "run", madeAt: "2025-11-21T16:30:00Z", rows: [], columns: [], cells: [])
    )
    #expect(page.complaints == [])
    #expect(page.dom.contains(">Nothing was run.</p>"))
  }
}
