import CommandLineTools
import CommandTestSupport
import Exploration
import Foundation
import TestSupport
import Testing

@testable import purchase_lab

/// Reports of explorations: one without a failure, and one with a planted bug.
enum ExploreSample {
  static let good = report(nil, seeds: 1..<9)

  /// A page of runs with a bug. The first failure is a small scenario.
  static func failing() throws -> ExplorePage {
    let bug = MachineBug.finishBeforeAcknowledgement
    let report = report(bug, seeds: 1..<9)
    let failure = try #require(report.sum.failure)
    let scenario = try FailureScenario(SimulationChoice(bug: bug.rawValue), failure)
    return page(report, scenarios: [scenario])
  }

  static func report(_ bug: MachineBug?, seeds: Range<UInt64>) -> ExploreReport {
    let explorer = Explorer(.swarm, .memory, bug, jobs: 1, countsKnobs: true)
    var options = ExploreOptions()
    (options.from, options.ownSeeds) = (seeds.lowerBound, seeds.count)
    do {
      return ExploreReport(options: options, sum: try explorer.run(seeds), seconds: 2)
    } catch {
      Issue.record(error)
      return ExploreReport(options: options, sum: RunSum(), seconds: 2)
    }
  }

  static func page(_ report: ExploreReport, scenarios: [FailureScenario] = []) -> ExplorePage {
    ExplorePage(
      report, scenarios: scenarios, command: "purchase-lab explore --seeds 8 --report out.html",
      madeAt: Date(timeIntervalSince1970: 1_763_742_600))
  }
}

/// The page as bytes and as data.
@Suite struct ExplorePageTests {
  @Test func `no text of a page ends the script that holds it, and it asks the network for nothing`() throws {
    var page = ExploreSample.page(ExploreSample.good)
    page.verdict = "</script><script>alert(1)</script><!-- \u{2028}"
    let html = String(decoding: try ReportPage.html(page), as: UTF8.self)
    let parts = html.components(separatedBy: #"<script type="application/json" id="report">"#)
    #expect(parts.count == 2)
    let json = try #require(parts.last?.components(separatedBy: "</script>").first)
    #expect(!json.contains("<") && !json.unicodeScalars.contains("\u{2028}"))
    #expect(html.components(separatedBy: "<script").count == 3)
    let policy = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline';"
    #expect(html.contains("content=\"\(policy)"))
    #expect(!html.contains("://"))
    for placeholder in ["REPORT_JSON", "PAGE_STYLE", "PAGE_SCRIPT"] { #expect(!html.contains(placeholder)) }
  }

  @Test func `the page has every invariant, every mark and every knob`() throws {
    let page = ExploreSample.page(ExploreSample.good)
    #expect(page.isGood && page.failures.isEmpty && page.complaints == [])
    #expect(
      page.invariants.map(\.number.text)
        == ((1...26) + [31, 32, 33, 37, 38, 39, 40, 41, 42, 43, 44, 45]).map(String.init))
    #expect(page.marks.count == MachineMark.allCases.count)
    #expect(Set(page.marks.map(\.sentence)).count == MachineMark.allCases.count)
    #expect(page.marks.filter(\.isOutOfReach).map(\.name) == ["vaultRestored"])
    #expect(page.runs == 8)
    #expect(page.knobs.count == 14)
    #expect(page.knobs.first { $0.name == "phones" }?.bars.map(\.count).reduce(0, +) == 8)
    #expect(page.knobs.allSatisfy { knob in knob.bars.allSatisfy { $0.count <= knob.count } })
    #expect(page.distributions.map(\.name) == ["time to delivery", "attempts", "queue length"])
  }

  @Test func `a failure has its small trace and the command that replays it`() throws {
    let page = try ExploreSample.failing()
    #expect(!page.isGood && page.failureCount > 0)
    let first = try #require(page.failures.first)
    #expect(first.invariant == 3 && (first.acts ?? 99) <= 12)
    #expect(first.trace.contains { $0.hasPrefix("day 0") })
    #expect(first.replay.contains("replay --seed \(first.seed) ") && first.replay.contains(" --keep "))
    // The others were not made small. They can be replayed as well.
    for other in page.failures.dropFirst() {
      #expect(other.acts == nil && other.replay.contains("replay --seed \(other.seed) "))
      #expect(!other.replay.contains("--keep"))
    }
    #expect(page.invariants.first { $0.number == 3 }?.broken ?? 0 > 0)
  }

  @Test func `the page is written to the given file`() throws {
    try TemporaryDirectory.with("ExploreReport") { directory in
      let path = directory + "/out.html"
      let result = try CommandResult(of: ["explore", "--seeds", "4", "--report", path, "--json"], by: .lab)
      #expect(result.status == 0, "\(result.errors)")
      let html = try String(contentsOfFile: path, encoding: .utf8)
      #expect(html.contains("explore --seeds 4 --report"))
    }
  }
}

/// The page in a real browser; not run where none is installed.
@Suite(.serialized, .enabled(if: Browser.path != nil, "no Chromium is installed"))
struct ExploreBrowserTests {
  private func draw(_ page: ExplorePage, width: Int = 1_280) throws -> Browser.Page {
    try TemporaryDirectory.with("ExplorePage") { directory in
      // An element wider than the page would make it scroll sideways.
      let script =
        "document.body.dataset.width = innerWidth;"
        + "document.body.dataset.overflow = document.documentElement.scrollWidth > innerWidth;"
      let html = try ReportPage.html(page) + Data("<script>\(script)</script>".utf8)
      return try Browser.framedPage(html, width: width, directory)
    }
  }

  @Test(arguments: [1_280, 360])
  func `everything is drawn without an error, on a desk and on a phone`(width: Int) throws {
    let page = try draw(try ExploreSample.failing(), width: width)
    #expect(page.complaints == [])
    #expect(page.dom.contains("data-width=\"\(width)\""))
    #expect(page.dom.contains("data-overflow=\"false\""), "the page scrolls sideways")
    for text in [
      "a transaction is finished only after its acknowledgement is durable", "time to delivery", "median",
      "99 of 100",
      "a write failed", "vaultRestored", "not here", "hours of faults", "first seed",
      "kinds of fault that a run has", "Checked elsewhere: 12 of disk images",
      "purchase-lab explore --seeds 8 --report out.html", "runs broke an invariant",
      "what happened, shrunk to 1 act", "purchase-lab replay --seed ",
    ] {
      #expect(page.dom.contains(text), "\(text)")
    }
    #expect(page.dom.components(separatedBy: "<article class=\"failure\">").count > 1)
    #expect(page.dom.components(separatedBy: "class=\"bar\"").count > 60)
  }

  @Test func `a guided search shows its behaviours over time, and the rarest with the run of each`() throws {
    var explorer = GuidedExplorer(
      SimulationChoice(), GuidedSearch(profile: .swarm, from: 1, first: 2), jobs: 1)
    try explorer.run(count: 4)
    var report = ExploreSample.report(nil, seeds: 1..<2)
    report.guided = try GuidedFigures(explorer, SimulationChoice())
    let drawn = try draw(ExploreSample.page(report))
    #expect(drawn.complaints == [])
    #expect(drawn.dom.contains("data-overflow=\"false\""), "the page scrolls sideways")
    #expect(drawn.dom.contains("<polyline points=\"0,180 "))
    for text in ["behaviours after 4 runs", "an input for replay --input", "class=\"growth\""] {
      #expect(drawn.dom.contains(text), "\(text)")
    }
    let plain = try draw(ExploreSample.page(ExploreSample.good))
    #expect(plain.dom.contains("<section id=\"guided\" aria-labelledby=\"guided-title\" hidden=\"\">"))
  }

  @Test func `where nothing failed, no failure is shown`() throws {
    let page = try draw(ExploreSample.page(ExploreSample.good))
    #expect(page.complaints == [])
    #expect(page.dom.contains("no invariant was broken"))
    #expect(page.dom.contains("<section id=\"failures\" aria-labelledby=\"failures-title\" hidden=\"\">"))
    #expect(!page.dom.contains("<article"))
  }

  @Test func `input of clients is shown as text, never as markup`() throws {
    let bad = "<img src=x onerror=\"console.error('run')\"></script>"
    var page = try ExploreSample.failing()
    (page.title, page.command, page.verdict) = (bad, bad, bad)
    page.complaints = [bad]
    page.figures[0].name = bad
    page.figures[0].value = bad
    page.invariants[0].sentence = bad
    page.marks[0].name = bad
    page.marks[0].sentence = bad
    page.elsewhere = [bad]
    page.knobs[0].name = bad
    page.knobs[0].bars[0].label = bad
    page.distributions[0].name = bad
    page.distributions[0].median = bad
    page.failures[0].what = bad
    page.failures[0].trace = [bad]
    page.failures[0].replay = bad
    let drawn = try draw(page)
    #expect(drawn.complaints == [])
    #expect(!drawn.dom.contains("<img"))
    #expect(drawn.dom.contains("<h1 id=\"title\">&lt;img src=x"))
  }

  @Test func `an empty exploration says "none"`() throws {
    let empty = ExploreReport(options: ExploreOptions(), sum: RunSum(), seconds: 0)
    let page = try draw(ExploreSample.page(empty))
    #expect(page.complaints == [])
    #expect(page.dom.contains(">none</dd>") && page.dom.contains("not seen"))
  }
}
