@testable import purchase_simulator

/// Reports as the commands would make them, small and large.
enum ReportSample {
  static let scenarios = [
    "purchase", "backend-outage", "reply-lost", "crash-after-payment", "crash-after-enqueue", "crash-loop",
    "reinstall-offline", "reinstall-then-other-account", "ask-to-buy-approved-while-dead", "refund-before-upload",
    "redelivery-storm", "disk-full",
  ]
  static let clients = [
    "engine", "fire-and-forget", "finish-first", "defaults-list", "receipt-only", "keychain-list",
  ]

  /// Scenarios and clients; `crash-loop` with `engine` has every kind of event.
  static let compare = Report(
    title: "purchase-simulator compare", command: "purchase-simulator compare --report out.html",
    madeAt: "2025-11-21T16:30:00Z",
    note: "Every cell is a real run: an app in a process of its own, with files and HTTP, killed with SIGKILL.",
    summary: [
      Report.Figure(name: "engine", value: "12 of 12 clean"),
      Report.Figure(name: "all others", value: "27 of 60 clean"),
      Report.Figure(name: "purchases", value: "84 paid"), Report.Figure(name: "time", value: "41.2 s"),
    ],
    stories: scenarios.map(story), rows: scenarios, columns: clients,
    cells: scenarios.flatMap { row in clients.map { cell(row, $0) } },
    timelines: [crashLoop, outage, loss])

  private static func story(_ name: String) -> Report.Story {
    name == "crash-loop"
      ? Report.Story(
        name: name, summary: "killed again and again until done",
        story: "Alice buys gems. The app is killed at every moment that matters, and opened again each time, "
          + "until nothing is left to do.",
        attacks: "clients that keep in memory what must be on disk", proves: ["R4.5", "I1", "I3"])
      : Report.Story(
        name: name, summary: "the story of " + name, story: "Somebody pays, and something goes wrong.",
        attacks: "clients that hope", proves: ["I1"])
  }

  private static func cell(_ row: String, _ column: String) -> Report.Cell {
    let number = (row.utf8.count * 7 + column.utf8.count * 5) % 11
    let outcomes: [(String, Report.CellState)] = [
      ("ok", .clean), ("1 lost", .lost), ("ok", .clean), ("1 doubled", .doubled), ("ok", .clean), ("1 stuck", .stuck),
      ("1 wrong account", .wrongAccount), ("ok", .clean), ("2 lost, 1 stuck", .lost), ("ok", .clean), ("ok", .clean),
    ]
    var (words, state) = column == "engine" || row == "purchase" ? ("ok", .clean) : outcomes[number]
    if row == "disk-full", column == "receipt-only" { (words, state) = ("not run", .absent) }
    if row == "disk-full", column == "keychain-list" { (words, state) = ("failed", .failed) }
    return Report.Cell(
      row: row, column: column, words: words, state: state,
      figures: [
        Report.Figure(name: "paid", value: "1"), Report.Figure(name: "granted", value: state == .clean ? "1" : "0"),
        Report.Figure(name: "lost", value: state == .lost ? "1" : "0"),
        Report.Figure(name: "unfinished", value: "0"),
      ],
      replay: "purchase-simulator run \(row) --client \(column) --seed 7",
      timeline: row == "crash-loop" && column == "engine" ? 0 : state == .lost ? 2 : state == .absent ? nil : 1,
      detail: state == .failed ? "The child could not be started: no space left on device." : nil)
  }

  typealias Event = Report.Event

  /// One purchase with kills, a fault, a retry and waits.
  static let crashLoop = Report.Timeline(
    title: "crash-loop with engine", pace: "retry delays at 1/1000 of their time",
    events: [
      Event(at: 0, lane: .app, kind: .launch, text: "launch 1", detail: "Fresh install; alice is signed in."),
      Event(at: 12, lane: .person, to: .app, kind: .step, text: "buys gems.100"),
      Event(at: 12.4, lane: .app, to: .queue, kind: .commit, text: "room is reserved"),
      Event(
        at: 13, lane: .app, to: .backend, kind: .request, text: "POST /v1/orders",
        detail: "{\"productID\": \"gems.100\",\n \"quantity\": 1}"),
      Event(at: 16.2, lane: .backend, to: .app, kind: .answer, text: "201, order 1", detail: "Order 1 for alice."),
      Event(at: 16.9, lane: .app, to: .queue, kind: .commit, text: "the order is in the journal"),
      Event(at: 18, lane: .app, to: .store, kind: .request, text: "the payment sheet"),
      Event(at: 41, lane: .store, kind: .charge, text: "charges alice"),
      Event(at: 43.5, lane: .store, to: .app, kind: .answer, text: "transaction 2000000000000001 arrives"),
      Event(at: 44.1, lane: .app, to: .queue, kind: .commit, text: "the receipt is in the queue"),
      Event(at: 44.3, lane: .app, to: .backend, kind: .request, text: "POST /v1/receipts, 1 claim"),
      Event(at: 48, lane: .backend, to: .app, kind: .fault, text: "503, Retry-After 2", detail: "Planned: 1 of 1."),
      Event(at: 48.2, lane: .app, kind: .retry, text: "in 2 s"),
      Event(at: 388.2, lane: .app, kind: .kill, text: "killed while it waits", detail: "SIGKILL, process 4711."),
      Event(at: 511, lane: .app, kind: .launch, text: "launch 2"),
      Event(at: 519, lane: .app, kind: .step, text: "finds 1 receipt in the queue"),
      Event(at: 520, lane: .app, to: .backend, kind: .request, text: "POST /v1/receipts, 1 claim"),
      Event(at: 523, lane: .backend, kind: .grant, text: "100 gems to alice", detail: "Credit 1 of order 1."),
      Event(at: 524, lane: .app, kind: .kill, text: "killed before the answer arrives"),
      Event(at: 640, lane: .app, kind: .launch, text: "launch 3"),
      Event(at: 648, lane: .app, to: .backend, kind: .request, text: "POST /v1/receipts, 1 claim"),
      Event(at: 651, lane: .backend, to: .app, kind: .answer, text: "200, already granted"),
      Event(at: 652, lane: .queue, kind: .settled, text: "tombstone, finish owed"),
      Event(at: 653, lane: .app, to: .store, kind: .finish, text: "finish 2000000000000001"),
      Event(at: 655, lane: .store, kind: .change, text: "no longer listed"),
      Event(at: 660, lane: .app, to: .person, kind: .step, text: "says: 100 gems"),
      Event(at: 700, lane: .app, kind: .exit, text: "nothing is left to do"),
    ])

  /// The same request, refused forty times.
  static let outage = Report.Timeline(
    title: "an outage", pace: "retry delays at 1/1000 of their time",
    events: [
      Event(at: 0, lane: .app, kind: .launch, text: "launch 1"),
      Event(at: 5, lane: .person, to: .app, kind: .step, text: "buys coins.500"),
      Event(at: 9, lane: .store, to: .app, kind: .charge, text: "transaction 2000000000000002"),
      Event(at: 10, lane: .app, to: .queue, kind: .commit, text: "the receipt is in the queue"),
    ]
      + (0..<40).flatMap { number -> [Event] in
        let start = 11 + Double(number) * 60
        return [
          Event(at: start, lane: .app, to: .backend, kind: .request, text: "POST /v1/receipts"),
          Event(at: start + 3, lane: .backend, to: .app, kind: .fault, text: "503"),
          Event(at: start + 3.5, lane: .app, kind: .retry, text: "attempt \(number + 2) in \(number + 40) ms"),
        ]
      } + [
        Event(at: 2_420, lane: .app, to: .backend, kind: .request, text: "POST /v1/receipts"),
        Event(at: 2_424, lane: .backend, to: .app, kind: .grant, text: "200, granted"),
        Event(at: 2_425, lane: .queue, kind: .settled, text: "tombstone, finish owed"),
        Event(at: 2_427, lane: .app, to: .store, kind: .finish, text: "finish 2000000000000002"),
      ])

  /// What a client without a disk does.
  static let loss = Report.Timeline(
    title: "a receipt in memory only", pace: nil,
    events: [
      Event(at: 0, lane: .app, kind: .launch, text: "launch 1"),
      Event(at: 4, lane: .person, to: .app, kind: .step, text: "buys gems.100"),
      Event(at: 7, lane: .app, to: .store, kind: .request, text: "the payment sheet"),
      Event(at: 30, lane: .store, to: .app, kind: .charge, text: "transaction 2000000000000003"),
      Event(at: 31, lane: .app, to: .store, kind: .finish, text: "finish 2000000000000003"),
      Event(at: 32, lane: .app, to: .backend, kind: .fault, text: "POST /v1/receipts: the connection is reset"),
      Event(at: 33, lane: .app, kind: .kill, text: "killed with the receipt in memory"),
      Event(at: 210, lane: .app, kind: .launch, text: "launch 2"),
      Event(at: 216, lane: .app, to: .store, kind: .request, text: "unfinished transactions?"),
      Event(at: 218, lane: .store, to: .app, kind: .answer, text: "none"),
      Event(at: 260, lane: .app, kind: .exit, text: "believes that all is well"),
    ])

  /// As many cells and time lines as a crash matrix has at most, of a hundred events each.
  static func large(cells count: Int) -> Report {
    let columns = ["relaunch", "reinstall", "account switch", "old image restored"]
    let rows = (0..<count / columns.count).map { "failpoint-\($0)" }
    let names = rows.flatMap { row in columns.map { (row, $0) } }
    return Report(
      title: "purchase-simulator crash-matrix", command: "purchase-simulator crash-matrix --report out.html",
      madeAt: "2025-11-21T16:30:00Z", rows: rows, columns: columns,
      cells: names.enumerated().map { index, name in
        Report.Cell(row: name.0, column: name.1, words: "9 of 9", state: .clean, timeline: index)
      },
      timelines: names.map { name in
        Report.Timeline(
          title: name.0 + ", " + name.1, pace: nil,
          events: (0..<4).flatMap { _ in crashLoop.events }.prefix(100).enumerated().map { index, event in
            var moved = event
            moved.at = Double(index) * 7
            return moved
          })
      })
  }
}
