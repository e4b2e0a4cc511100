import CommandLineTools
import Foundation

/// The results of all workloads as text and as JSON, and whether the promises hold.
struct CrashImagesReport {
  let lines: [CrashImagesWorker.Line]
  let wallClock: Duration
  let seed: UInt64

  /// A row of the table.
  struct Row: Codable, Hashable {
    var name: String
    var workloads = 0
    var points = 0
    var states = 0
    var images = 0
    var lost = 0
    var corrupt = 0
    var broken = 0
    var faults = 0
    var refused = 0

    mutating func add(_ tally: ImageTally) {
      workloads += 1
      points += tally.points
      states += tally.states
      images += tally.images
      lost += tally.lost
      corrupt += tally.corrupt
      broken += tally.broken
      faults += tally.faults
      refused += tally.refused
    }
  }

  private var tallies: [ImageTally] { lines.map(\.tally) }

  /// By the number of operations, then the controls.
  var rows: [Row] {
    var rows: [Row] = []
    for tally in tallies {
      let length = tally.workload.split(separator: ",").count
      let name = tally.control.map { "control \($0)" } ?? "\(length) operation\(length == 1 ? "" : "s")"
      if rows.last?.name != name { rows.append(Row(name: name)) }
      rows[rows.count - 1].add(tally)
    }
    return rows
  }

  /// True if nothing is lost, corrupt or broken, and each control loses a commit. Frames over an old log whose header is
  /// still there are no prefix of any log: that control damages it.
  var holds: Bool {
    rows.allSatisfy { row in
      switch row.name {
      case "control \(ImageDiscipline.headerUnsynced.rawValue)": row.corrupt > 0
      case let name where name.hasPrefix("control"): row.lost > 0
      default: row.lost + row.corrupt + row.broken == 0
      }
    }
  }

  private var failures: [ImageFailure] { tallies.filter { $0.control == nil }.flatMap(\.failures) }

  /// Per core, by the processor time of the images.
  private var imagesPerSecond: Int {
    let seconds = lines.map(\.seconds).reduce(0, +)
    return seconds > 0 ? Int(Double(tallies.map(\.images).reduce(0, +)) / seconds) : 0
  }

  /// A hash of every log, image and recovered state. The same seed gives the same hash for any number of workers.
  private var fingerprint: String {
    var hash = LogHash()
    for tally in tallies { hash.add(UInt64(bitPattern: tally.fingerprint)) }
    return String(hash.value, radix: 16)
  }

  private var command: String { "purchase-lab crash-images --seed \(seed) --replay" }

  func text() -> [String] {
    let head = [
      "", "workloads", "points", "states", "images", "lost", "corrupt", "broken", "faults", "refused",
    ]
    let cells = rows.map { row in
      [row.name]
        + [
          row.workloads, row.points, row.states, row.images, row.lost, row.corrupt, row.broken, row.faults,
          row.refused,
        ].map(String.init)
    }
    var lines = TextTable.lines([head] + cells)
    for failure in failures {
      lines.append("\(failure.kind.rawValue): \(failure.what)\n  \(command) '\(failure.replay)'")
    }
    let control = tallies.first { $0.control != nil && !$0.failures.isEmpty }?.failures.first
    if let control { lines.append("a commit that a control loses: \(command) '\(control.replay)'") }
    let hasControls = tallies.contains { $0.control != nil }
    let verdict = !holds ? "FAILED" : hasControls ? "nothing lost; the controls lose" : "nothing lost"
    let seconds = wallClock.components.seconds
    lines.append("\(verdict); \(imagesPerSecond) images/s per core; \(seconds) s; run \(fingerprint)")
    return lines
  }

  struct Document: Codable {
    var seed: UInt64
    var holds: Bool
    var rows: [Row]
    var failures: [ImageFailure]
    var fingerprint: String
    var imagesPerSecond: Int
  }

  var document: Document {
    Document(
      seed: seed, holds: holds, rows: rows, failures: failures, fingerprint: fingerprint,
      imagesPerSecond: imagesPerSecond)
  }
}
