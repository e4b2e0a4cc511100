import CommandLineTools

@testable import purchase_simulator

/// Reports like those of the commands, small and large.
enum ReportSample {
  static let scenarios = [
    "purchase", "backend-outage", "reply-lost", "crash-after-payment", "crash-after-enqueue", "crash-loop",
    "reinstall-offline", "reinstall-then-other-account", "ask-to-buy-approved-while-dead",
    "refund-before-upload", "redelivery-storm", "disk-full",
  ]
  static let clients = [
    "engine", "fire-and-forget", "finish-first", "defaults-list", "receipt-only", "keychain-list",
  ]

  /// Scenarios and clients; `crash-loop` with `engine` has every kind of event.
  static let compare = Report(
    title: "purchase-simulator compare", command: "purchase-simulator compare --report out.html",
    madeAt: "2025-11-21T16:30:00Z",
    note:
      "Every cell is a real run: an app in a process of its own, with files and HTTP, killed with SIGKILL.",
    summary: [
      figure("engine", "12 of 12 clean"), figure("all others", "33 of 59 clean"),
      figure("purchases", "84 paid"), figure("time", "41.2 s"),
    ],
    subjects: scenarios.map(subject), rows: scenarios, columns: clients,
    cells: scenarios.flatMap { row in clients.map { cell(row, $0) } },
    timelines: [crashLoop, outage, loss])

  private static func subject(_ name: String) -> Report.Subject {
    name == "crash-loop"
      ? Report.Subject(
        name: name, summary: "killed again and again until done",
        text: "Alice buys gems. The app is killed at every moment that matters, and opened again each time, "
          + "until nothing is left to do.",
        attacks: "clients that keep in memory what must be on disk", proves: ["R4.5", "I1", "I3"])
      : Report.Subject(
        name: name, summary: "what happens in " + name, text: "Alice pays, and a fault follows.",
        attacks: "clients that hope", proves: ["I1"])
  }

  private static func cell(_ row: String, _ column: String) -> Report.Cell {
    let number = (row.utf8.count * 3 + column.utf8.count * 7) % 11
    let outcomes: [(String, Report.CellState)] = [
      ("ok", .clean), ("1 lost", .lost), ("ok", .clean), ("1 doubled", .doubled), ("ok", .clean),
      ("1 stuck", .stuck), ("1 wrong account", .wrongAccount), ("ok", .clean), ("2 lost, 1 stuck", .lost),
      ("ok", .clean), ("ok", .clean),
    ]
    var (words, state) = column == "engine" || row == "purchase" ? ("ok", .clean) : outcomes[number]
    if row == "disk-full", column == "receipt-only" { (words, state) = ("not run", .absent) }
    if row == "disk-full", column == "keychain-list" { (words, state) = ("failed", .failed) }
    return Report.Cell(
      row: row, column: column, words: words, state: state,
      figures: [
        figure("paid", "1"), figure("granted", state == .clean ? "1" : "0"),
        figure("lost", state == .lost ? "1" : "0"), figure("unfinished", "0"),
      ],
      replay: "purchase-simulator run \(row) --client \(column) --seed 7",
      timeline: row == "crash-loop" && column == "engine"
        ? 0 : state == .lost ? 2 : state == .absent ? nil : 1,
      detail: state == .failed ? "The child could not be started: no space left on device." : nil)
  }

  private static func at(
    _ time: Double, _ lane: Report.Lane, to other: Report.Lane? = nil, _ kind: Report.Kind, _ text: String,
    detail: String? = nil
  ) -> Report.Event {
    Report.Event(at: time, lane: lane, to: other, kind: kind, text: text, detail: detail)
  }

  private static func figure(_ name: String, _ value: String) -> Report.Figure {
    Report.Figure(name: name, value: value)
  }

  /// One purchase with kills, a fault, a retry and waits.
  static let crashLoop = Report.Timeline(
    title: "crash-loop with engine", pace: "retry delays at 1/1000 of their time",
    events: [
      at(0, .app, .launch, "launch 1", detail: "Fresh install; alice is signed in."),
      at(12, .person, to: .app, .step, "buys gems.100"),
      at(12.4, .app, to: .queue, .commit, "capacity is reserved"),
      at(
        13, .app, to: .backend, .request, "POST /v1/orders",
        detail: "productID: gems.100\nquantity: 1"),
      at(16.2, .backend, to: .app, .answer, "201, order 1", detail: "Order 1 for alice."),
      at(16.9, .app, to: .queue, .commit, "the order is in the journal"),
      at(18, .app, to: .store, .request, "the payment sheet"),
      at(41, .store, .charge, "charges alice"),
      at(43.5, .store, to: .app, .answer, "transaction 2000000000000001 arrives"),
      at(44.1, .app, to: .queue, .commit, "the receipt is in the queue"),
      at(44.3, .app, to: .backend, .request, "POST /v1/receipts, 1 claim"),
      at(48, .backend, to: .app, .fault, "503, Retry-After 2", detail: "Planned: 1 of 1."),
      at(48.2, .app, .retry, "in 2 s"),
      at(388.2, .app, .kill, "killed while it waits", detail: "SIGKILL, process 4711."),
      at(511, .app, .launch, "launch 2"),
      at(519, .app, .step, "finds 1 receipt in the queue"),
      at(520, .app, to: .backend, .request, "POST /v1/receipts, 1 claim"),
      at(523, .backend, .grant, "100 gems to alice", detail: "Credit 1 of order 1."),
      at(524, .app, .kill, "killed before the answer arrives"),
      at(640, .app, .launch, "launch 3"),
      at(648, .app, to: .backend, .request, "POST /v1/receipts, 1 claim"),
      at(651, .backend, to: .app, .answer, "200, already granted"),
      at(652, .queue, .settled, "tombstone, finish pending"),
      at(653, .app, to: .store, .finish, "finish 2000000000000001"),
      at(655, .store, .change, "no longer listed"),
      at(660, .app, to: .person, .step, "says: 100 gems"),
      at(700, .app, .exit, "nothing is left to do"),
    ])

  /// One request that is refused forty times.
  static let outage = Report.Timeline(
    title: "an outage", pace: "retry delays at 1/1000 of their time",
    events: [
      at(0, .app, .launch, "launch 1"),
      at(5, .person, to: .app, .step, "buys coins.500"),
      at(9, .store, to: .app, .charge, "transaction 2000000000000002"),
      at(10, .app, to: .queue, .commit, "the receipt is in the queue"),
    ]
      + (0..<40).flatMap { number -> [Report.Event] in
        let start = 11 + Double(number) * 60
        return [
          at(start, .app, to: .backend, .request, "POST /v1/receipts"),
          at(start + 3, .backend, to: .app, .fault, "503"),
          at(start + 3.5, .app, .retry, "attempt \(number + 2) in \(number + 40) ms"),
        ]
      } + [
        at(2_420, .app, to: .backend, .request, "POST /v1/receipts"),
        at(2_424, .backend, to: .app, .grant, "200, granted"),
        at(2_425, .queue, .settled, "tombstone, finish pending"),
        at(2_427, .app, to: .store, .finish, "finish 2000000000000002"),
      ])

  /// The events of a client that keeps nothing.
  static let loss = Report.Timeline(
    title: "a receipt in memory only", pace: nil,
    events: [
      at(0, .app, .launch, "launch 1"),
      at(4, .person, to: .app, .step, "buys gems.100"),
      at(7, .app, to: .store, .request, "the payment sheet"),
      at(30, .store, to: .app, .charge, "transaction 2000000000000003"),
      at(31, .app, to: .store, .finish, "finish 2000000000000003"),
      at(32, .app, to: .backend, .fault, "POST /v1/receipts: the connection is reset"),
      at(33, .app, .kill, "killed with the receipt in memory"),
      at(210, .app, .launch, "launch 2"),
      at(216, .app, to: .store, .request, "unfinished transactions?"),
      at(218, .store, to: .app, .answer, "none"),
      at(260, .app, .exit, "believes that all is well"),
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
