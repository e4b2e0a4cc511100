import CommandLineTools
import CommandTestSupport
import Fleet
import Foundation
import TestSupport
import Testing

@testable import purchase_lab

/// A small fleet with three policies.
enum FleetSample {
  static func page() -> FleetPage {
    var options = FleetOptions()
    (options.scenario.devices, options.scenario.capacity) = (500, 10)
    (options.scenario.outage, options.scenario.horizon) = (600, 5_400)
    let runs = [FleetPolicyName.engine, .exponential, .segmentRule].map { name in
      let tally = name.run(options.scenario)
      return (tally.result(name.rawValue, wallSeconds: 1), tally.curves)
    }
    return FleetPage(
      options, runs, command: "purchase-lab fleet --report out.html",
      madeAt: Date(timeIntervalSince1970: 1_763_742_600))
  }
}

/// The page as bytes.
@Suite struct FleetPageTests {
  @Test func `no text of the page ends its script, and the page asks the network for nothing`() throws {
    var page = FleetSample.page()
    page.scenario = "</script><script>alert(1)</script>"
    let html = String(decoding: try ReportPage.html(page), as: UTF8.self)
    #expect(html.components(separatedBy: "<script").count == 3)
    #expect(
      html.contains("content=\"default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline';"))
    #expect(!html.contains("://"))
    for placeholder in ["REPORT_JSON", "PAGE_STYLE", "PAGE_SCRIPT"] { #expect(!html.contains(placeholder)) }
  }

  @Test func `no curve and no phase is missing`() throws {
    let page = FleetSample.page()
    #expect(page.policies.map(\.name) == ["engine", "exponential", "segment-rule"])
    for policy in page.policies {
      #expect(policy.load.count == 90 && policy.delivered.count == 90)
      #expect(policy.delivered == policy.delivered.sorted())
    }
    #expect(page.phases.count == 4)
    for phase in page.phases {
      #expect(phase.ranges.map(\.state) == [.stable, .vulnerable, .failing])
      #expect(phase.ranges.first?.from == 0 && phase.ranges.last?.to == 1.5)
    }
  }
}

/// The page in a browser.
@Suite(.serialized, .enabled(if: Browser.path != nil, "no Chromium is installed"))
struct FleetBrowserTests {
  @Test(arguments: [360, 1_280])
  func `the page has no complaint, and is no wider than its window`(width: Int) throws {
    let page = try TemporaryDirectory.with("FleetPage") { directory in
      let script =
        "document.body.dataset.width = innerWidth;"
        + "document.body.dataset.overflow = document.documentElement.scrollWidth > innerWidth;"
      let html = try ReportPage.html(FleetSample.page()) + Data("<script>\(script)</script>".utf8)
      return try Browser.framedPage(html, width: width, directory)
    }
    #expect(page.complaints == [])
    #expect(page.dom.contains("data-width=\"\(width)\""))
    #expect(page.dom.contains("data-overflow=\"false\""), "the page scrolls sideways")
    #expect(page.dom.components(separatedBy: "<article").count == 4)
    #expect(page.dom.components(separatedBy: "<svg").count == 7)
    #expect(page.dom.contains("after the fault"))
  }
}
