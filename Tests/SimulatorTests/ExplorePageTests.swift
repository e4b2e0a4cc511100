import FaultInjection
import Foundation
import Testing

@testable import purchase_simulator

/// Reports of explorations: one where all is well, and one with a planted bug.
enum ExploreSample {
  static let good = report(nil, seeds: 1..<9)

  /// A page of lives with a bug, of which the first failure is a small story.
  static func failing() throws -> ExplorePage {
    let plant = Plant.finishBeforeAcknowledgement
    let report = report(plant, seeds: 1..<9)
    let explorer = Explorer(.swarm, .memory, plant, jobs: 1)
    let failure = try #require(report.sum.failure)
    let story = try FailureStory(explorer.exploration, .memory, failure)
    return page(report, stories: [story])
  }

  static func report(_ plant: Plant?, seeds: Range<UInt64>) -> ExploreReport {
    let explorer = Explorer(.swarm, .memory, plant, jobs: 1, countsKnobs: true)
    var options = ExploreOptions()
    (options.from, options.seeds) = (seeds.lowerBound, seeds.count)
    do {
      return ExploreReport(options: options, sum: try explorer.run(seeds), seconds: 2)
    } catch {
      Issue.record(error)
      return ExploreReport(options: options, sum: ExplorationSum(), seconds: 2)
    }
  }

  static func page(_ report: ExploreReport, stories: [FailureStory] = []) -> ExplorePage {
    ExplorePage(
      report, stories: stories, command: "purchase-simulator explore --seeds 8 --report out.html",
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

  @Test func `it has every invariant, every mark and every knob`() throws {
    let page = ExploreSample.page(ExploreSample.good)
    #expect(page.isGood && page.failures.isEmpty && page.complaints == [])
    #expect(page.invariants.map(\.number) == Array(1...26))
    #expect(page.marks.count == Mark.allCases.count)
    #expect(Set(page.marks.map(\.sentence)).count == Mark.allCases.count)
    #expect(page.marks.filter(\.isOutOfReach).map(\.name) == ["vaultRestored"])
    #expect(page.worlds == 8)
    #expect(page.knobs.count == KnobTally.Knob.allCases.count + 3)
    #expect(page.knobs.first { $0.name == "phones" }?.bars.map(\.count).reduce(0, +) == 8)
    #expect(page.knobs.allSatisfy { knob in knob.bars.allSatisfy { $0.count <= knob.count } })
    #expect(page.distributions.map(\.name) == ["time to delivery", "attempts", "queue length"])
  }

  @Test func `a failure has its small story and the line that replays it`() throws {
    let page = try ExploreSample.failing()
    #expect(!page.isGood && page.failureCount > 0)
    let first = try #require(page.failures.first)
    #expect(first.invariant == 3 && (first.acts ?? 99) <= 12)
    #expect(first.story.contains { $0.hasPrefix("day 0") })
    #expect(first.replay.contains("replay --seed \(first.seed) ") && first.replay.contains(" --keep "))
    // Nobody made the others small; they can be replayed all the same.
    for other in page.failures.dropFirst() {
      #expect(other.acts == nil && other.replay.contains("replay --seed \(other.seed) "))
      #expect(!other.replay.contains("--keep"))
    }
    #expect(page.invariants.first { $0.number == 3 }?.broken ?? 0 > 0)
  }

  @Test func `it is written where somebody wants it`() throws {
    try TemporaryDirectory.with("ExploreReport") { directory in
      let path = directory + "/out.html"
      let result = try CommandResult(of: ["explore", "--seeds", "4", "--report", path, "--json"])
      #expect(result.status == 0, "\(result.errors)")
      let html = try String(contentsOfFile: path, encoding: .utf8)
      #expect(html.contains("explore --seeds 4 --report"))
    }
  }
}

/// The page in a real browser; not run where none is installed.
@Suite(.serialized, .timeLimit(.minutes(4)), .enabled(if: Browser.path != nil, "no Chromium is installed"))
struct ExploreBrowserTests {
  private func draw(_ page: ExplorePage, width: Int = 1_280) throws -> Browser.Page {
    try TemporaryDirectory.with("ExplorePage") { directory in
      // What is wider than the page would make it scroll sideways.
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
      "finish only after the acknowledgement is durable", "time to delivery", "median", "99 of 100",
      "a write failed", "vaultRestored", "not here", "hours of faults", "first seed",
      "kinds of fault that a world has", "Seen to elsewhere: 12 of disk images",
      "purchase-simulator explore --seeds 8 --report out.html", "lives broke an invariant",
      "what happened, shrunk to 1 act", "purchase-simulator replay --seed ",
    ] {
      #expect(page.dom.contains(text), "\(text)")
    }
    #expect(page.dom.components(separatedBy: "<article class=\"failure\">").count > 1)
    #expect(page.dom.components(separatedBy: "class=\"bar\"").count > 60)
  }

  @Test func `where nothing failed, no failure is shown`() throws {
    let page = try draw(ExploreSample.page(ExploreSample.good))
    #expect(page.complaints == [])
    #expect(page.dom.contains("no invariant was broken"))
    #expect(page.dom.contains("<section id=\"failures\" aria-labelledby=\"failures-title\" hidden=\"\">"))
    #expect(!page.dom.contains("<article"))
  }

  @Test func `what others write is text, never markup`() throws {
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
    page.failures[0].story = [bad]
    page.failures[0].replay = bad
    let drawn = try draw(page)
    #expect(drawn.complaints == [])
    #expect(!drawn.dom.contains("<img"))
    #expect(drawn.dom.contains("<h1 id=\"title\">&lt;img src=x"))
  }

  @Test func `of nothing it says so`() throws {
    let empty = ExploreReport(options: ExploreOptions(), sum: ExplorationSum(), seconds: 0)
    let page = try draw(ExploreSample.page(empty))
    #expect(page.complaints == [])
    #expect(page.dom.contains(">none</dd>") && page.dom.contains("not seen"))
  }
}
