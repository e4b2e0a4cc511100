import CommandLineTools
import CommandTestSupport
import Exploration
import Foundation
import PurchaseQueue
import TestSupport
import Testing

@testable import purchase_lab

/// `replay --why`: the explanation of failing runs with planted bugs.
@Suite struct WhyTests {
  private struct Document: Decodable {
    struct Curve: Decodable {
      var code: String
      var named: Int
      var points: [Point]
    }
    struct Point: Decodable {
      var event: Int
      var share: Double
    }
    struct Act: Decodable {
      var place: Int
      var matters: Bool
      var event: Int?
    }
    struct Frame: Decodable { var sentence: String }
    struct Party: Decodable {
      var name: String
      var states: [State]
    }
    struct State: Decodable {
      var event: Int
      var lines: [String]
    }
    var event: Int
    var named: Int
    var curves: [Curve]
    var acts: [Act]
    var frames: [Frame]
    var parties: [Party]
    var replay: String
  }

  /// A request behind a captive portal: its page is taken for a verdict.
  private static let captive = [
    "replay", "--why", "--seed", "7", "--plant", "captivePageIsGranted", "--keep", "14,15",
  ]

  private func explain(_ words: [String]) throws -> Document {
    let result = try CommandResult(of: words + ["--json"], by: .lab)
    #expect(result.status == 1, "\(result.errors)")
    return try JSONDecoder().decode(Document.self, from: Data(result.output.utf8))
  }

  @Test func `the damage and its cause are named, and the parties are shown after each event`() throws {
    let told = try explain(Self.captive)
    // The portal's page is read in event 7. The purchase behind the portal is event 5.
    #expect(told.event == 7 && told.named == 7)
    #expect(told.curves.map(\.code) == ["mended", "same"] && told.curves.map(\.named) == [7, 5])
    #expect(told.curves.allSatisfy { $0.points.last?.event == 7 && $0.points.last?.share == 1 })
    #expect(told.frames.count == 8 && told.frames[5].sentence == "phone 3: buys gems")
    #expect(told.acts.filter(\.matters).map(\.place) == [14, 15])
    #expect(told.acts.map(\.event) == [4, 5])
    let store = try #require(told.parties.first { $0.name == "store" })
    #expect(store.states.map(\.event) == [0, 5])
    let phone = try #require(told.parties.first { $0.name == "phone 3" })
    #expect(phone.states.last?.lines.last == "1: settled, owes the finish, not seen by the app")
    #expect(told.replay.hasSuffix("--plant captivePageIsGranted --keep 14,15 --stop-at 7"))
  }

  @Test func `an act that the failure does not need is grey`() throws {
    let told = try explain([
      "replay", "--why", "--seed", "7", "--plant", "captivePageIsGranted", "--keep", "1,9,14,15",
    ])
    #expect(told.acts.filter { !$0.matters }.map(\.place) == [1, 9])
    #expect(told.named == 7)
  }

  @Test func `the text names the event, its probabilities and the acts`() throws {
    let result = try CommandResult(of: Self.captive, by: .lab)
    #expect(result.status == 1)
    for line in [
      "invariant 11 is broken (an entry leaves only by a settling verdict)",
      "event 7 raises the probability of the failure from 0 % to 100 %: a request ends",
      "(with the code that failed)", "the acts that it needs", "  15  day 0 07:52:20.869  phone 3: buys gems",
      "the parties after event 7", "    captivePortal, phone 3",
    ] {
      #expect(result.output.contains(line), "\(line)")
    }
    #expect(try CommandResult(of: Self.captive, by: .lab).output == result.output, "a second time differs")
  }

  @Test func `a run that does not fail has nothing to explain`() throws {
    let result = try CommandResult(of: ["replay", "--why", "--seed", "5", "--profile", "calm"], by: .lab)
    #expect(result.status == 0 && result.output == "nothing was broken: there is no failure to explain\n")
  }

  @Test(arguments: [
    (["--why", "--engine"], "--why and --engine do not go together"),
    (["--why", "--stop-at", "7"], "--why and --stop-at do not go together"),
    (["--report", "out.html"], "--report needs --why"),
    (["--json"], "--json needs --why"),
    (["--plant", "all"], "there is no planted bug 'all'"),
    (
      ["--why", "--plant", "all", "--report", "out.html"],
      "--report is of one run: name one planted bug, and add"
    ),
    (["--why", "--plant", "all", "--keep", "3"], "--keep is of one run: name one planted bug, and add"),
    (["--why", "--plant", "captive"], "there is no planted bug 'captive'"),
    (["--why", "--seed", "7", "--keep", "9999"], "there is no act 9999 in seed 7"),
  ])
  func `what does not go together is wrong usage`(words: [String], message: String) throws {
    let result = try CommandResult(of: ["replay"] + words, by: .lab)
    #expect(result.status == 64 && result.errors.contains(message), "\(result.errors)")
  }

  /// A bug of each kind: in the transport, the driver, the storage, the backend, and a number.
  @Test(
    arguments: LongTests.some(
      [
        "rejectedIsSettled", "pendingFinishForgotten", "backendForgetsTransactions", "timerForEver",
        "horizonForgotten",
      ],
      every: 4))
  func `the guilty event of a planted bug is named`(plant: String) throws {
    let result = try CommandResult(of: ["replay", "--why", "--plant", plant], by: .lab)
    #expect(result.status == 0, "\(result.output)")
    #expect(result.output.contains("named within 2 events of the guilty one: 1 of 1"))
  }
}

/// The page of an explanation: as bytes, and in a real browser where one is installed.
@Suite(.serialized) struct WhyPageTests {
  private func page() throws -> WhyPage {
    let runner = MachineRunner(
      profile: .swarm, bug: .captivePageIsGranted, disks: ExploredDisks.maker(.memory))
    let explanation = try FailureExplanation(
      keeping: [1, 14, 15], seed: 7, codes: [.mended, .same]
    ) { (places, trace) throws(QueueError) in try runner.simulation(7, keeping: places, trace: trace) }
    return WhyPage(
      try #require(explanation), replay: "purchase-lab replay --seed 7", command: "replay --why",
      madeAt: Date(timeIntervalSince1970: 1_763_742_600))
  }

  @Test func `the page asks the network for nothing, and no text ends its script`() throws {
    var page = try page()
    page.verdict = "</script><script>alert(1)</script>"
    let html = String(decoding: try ReportPage.html(page), as: UTF8.self)
    #expect(html.components(separatedBy: "<script").count == 3 && !html.contains("://"))
    #expect(html.contains("default-src 'none'"))
    for placeholder in ["REPORT_JSON", "PAGE_STYLE", "PAGE_SCRIPT"] { #expect(!html.contains(placeholder)) }
  }

  /// Moves the slider as its keys do, and says what the page shows then.
  private func draw(_ page: WhyPage, at event: Int, width: Int) throws -> Browser.Page {
    try TemporaryDirectory.with("WhyPage") { directory in
      let script = """
        document.body.dataset.overflow = document.documentElement.scrollWidth > innerWidth;
        const slider = document.getElementById("event");
        slider.value = \(event);
        slider.dispatchEvent(new Event("input"));
        """
      let html = try ReportPage.html(page) + Data("<script>\(script)</script>".utf8)
      return try Browser.framedPage(html, width: width, directory)
    }
  }

  @Test(.enabled(if: Browser.path != nil, "no Chromium is installed"), arguments: [1_280, 360])
  func `the slider shows the parties after each event, on a desk and on a phone`(width: Int) throws {
    let page = try page()
    let drawn = try draw(page, at: 5, width: width)
    #expect(drawn.complaints == [])
    #expect(drawn.dom.contains("data-overflow=\"false\""), "the page scrolls sideways")
    for text in [
      "event 5 of 7, ", "+ 1: gems of apple-1 for order 1, unfinished", "event 7 raises the probability",
      "dashed: with the code that failed", "grey: 1 act whose removal changes nothing", "app of phone 3",
    ] {
      #expect(drawn.dom.contains(text), "\(text)")
    }
    #expect(!drawn.dom.contains("+ 1: settled"))
    let last = try draw(page, at: 7, width: width)
    #expect(last.dom.contains("+ 1: settled, owes the finish, not seen by the app"))
    #expect(last.dom.contains("(the named event)") && !last.dom.contains("+ 1: gems"))
  }
}

/// What a planted bug did, and what another future is.
@Suite struct RewindTests {
  private func simulation(_ bug: MachineBug?) throws -> MachineSimulation {
    let runner = MachineRunner(profile: .swarm, bug: bug, disks: ExploredDisks.maker(.memory))
    return try runner.simulation(7, keeping: [14, 15])
  }

  @Test func `a bug that never acts has no deeds, and one that acts has the event and the purchase`() throws {
    let captive = try simulation(.captivePageIsGranted)
    captive.run()
    #expect(captive.deeds.all.map(\.event) == [7] && captive.deeds.all.map(\.sale) == [0])
    let other = try simulation(.quarantineDeletes)
    other.run()
    #expect(other.result.violation == nil && other.deeds.all.isEmpty)
  }

  @Test func `a future is another run, and the same future is the same run`() throws {
    func hash(_ future: UInt64?) throws -> UInt64 {
      let simulation = try simulation(nil)
      simulation.run(stopAt: 4)
      if let future { simulation.redraw(future) }
      simulation.run()
      return simulation.result.hash
    }
    let first = try hash(1)
    #expect(try hash(1) == first)
    #expect(try hash(2) != first)
    #expect(try hash(nil) != first)
  }

  @Test func `a bug that is mended before it acts does no harm, and afterwards the harm is done`() throws {
    for (event, isHarmed) in [(6, false), (7, true)] {
      let simulation = try simulation(.captivePageIsGranted)
      simulation.run(stopAt: event)
      simulation.mend()
      simulation.run()
      #expect((simulation.result.violation != nil) == isHarmed)
    }
  }
}
