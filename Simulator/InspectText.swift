import CommandLineTools
import PurchaseQueue

/// The output of `inspect` for people. Keys, accounts and orders come from the file, so control characters are removed,
/// and long texts are cut.
struct InspectText {
  let text: String

  init(_ report: InspectReport, now: Timestamp) {
    var sections = [Self.entries(report, now: now), Self.lanes(report, now: now)]
    sections += [Self.quarantine(report), Self.tombstones(report, now: now), Self.health(report, now: now)]
    text = sections.filter { !$0.isEmpty }.map { $0.joined(separator: "\n") }.joined(separator: "\n\n")
  }

  private static func entries(_ report: InspectReport, now: Timestamp) -> [String] {
    guard !report.entries.isEmpty else { return ["no entries"] }
    let head = ["place", "key", "lane", "state", "order", "age", "attempts", "not before", "payloads"]
    return TextTable.lines(
      [head]
        + report.entries.map { entry in
          let file = entry.file
          return [
            "\(entry.place)", file.key.rawValue, file.lane, file.state, file.orderNumber ?? "-",
            age(file.enqueuedAt, now), "\(file.attempts)", file.readyAt?.utc ?? "-",
            file.payloads.isEmpty ? "-" : file.payloads.joined(separator: "; "),
          ]
        })
  }

  private static func lanes(_ report: InspectReport, now: Timestamp) -> [String] {
    guard !report.lanes.isEmpty else { return [] }
    return TextTable.lines(
      [["lane", "queued", "oldest"]]
        + report.lanes.map { lane in
          [lane.lane, "\(lane.queued)", lane.oldestEnqueuedAt.map { age($0, now) } ?? "-"]
        })
  }

  private static func quarantine(_ report: InspectReport) -> [String] {
    let files = report.entries.map(\.file).filter { $0.state != "queued" }
    guard !files.isEmpty else { return [] }
    return ["quarantine: \(files.count)"]
      + files.map { "  \(TextTable.cell($0.key.rawValue)): \(SafeText.shown($0.reason ?? $0.state))" }
  }

  private static func tombstones(_ report: InspectReport, now: Timestamp) -> [String] {
    let tombstones = report.tombstones
    guard tombstones.count > 0 else { return ["no tombstones"] }
    func row(_ file: CaseFile) -> [String] {
      let duties = [file.isFinishPending ? "finish pending" : nil, file.isUnconfirmed ? "unconfirmed" : nil]
        .compactMap { $0 }
      return [
        file.key.rawValue, file.lane, file.outcome ?? "-", file.orderNumber ?? "-",
        file.settledAt.map { age($0, now) } ?? "-", "\(file.attempts)",
        duties.isEmpty ? "-" : duties.joined(separator: ", "),
      ]
    }
    let shown = Set(tombstones.newest.map(\.key))
    let older = tombstones.withDuties.filter { !shown.contains($0.key) }
    let head = ["key", "lane", "outcome", "order", "settled", "attempts", "duties"]
    let title = "tombstones: \(tombstones.count), \(tombstones.withDuties.count) with duties"
    let isPart = tombstones.count > shown.count
    let part = isPart ? "; the newest \(shown.count), and older ones with duties" : ""
    return [title + part] + TextTable.lines([head] + (tombstones.newest + older).map(row))
  }

  private static func health(_ report: InspectReport, now: Timestamp) -> [String] {
    let health = report.health
    var lines = ["file: \(SafeText.shown(report.file))"]
    lines.append(
      "  \(health.fileBytes) bytes (\(health.freeBytes) free), log \(health.logBytes) bytes, "
        + "schema \(health.schemaVersion), SQLite \(health.sqliteVersion) here")
    lines.append(
      "  queued \(health.queued), quarantined \(health.quarantined), damaged \(health.damaged), "
        + "reserved \(health.reserved); payloads \(health.bytes) bytes, \(health.reservedBytes) reserved")
    if let next = health.nextReadyAt { lines.append("  next postponed entry is ready at \(next.utc)") }
    lines.append("  vault: not read; \(health.unprotected) entries are marked as unprotected")
    lines += health.archived.map { "  archived: \(SafeText.shown($0))" }
    lines.append("  thorough check: " + (report.check.isClean ? "clean" : "damage found"))
    if let salvage = report.salvage {
      lines.append("  to be salvaged: \(SafeText.shown(salvage.what))")
      lines += salvage.losses.map { "  will be lost: \(SafeText.shown($0))" }
    }
    return lines
  }

  /// The time since then in its two largest units; a clock that was set back shows as 0 s.
  static func age(_ then: Timestamp, _ now: Timestamp) -> String {
    let (elapsed, overflow) = now.milliseconds.subtractingReportingOverflow(then.milliseconds)
    let seconds = overflow ? 0 : max(0, elapsed / 1_000)
    switch seconds {
    case ..<60: return "\(seconds) s"
    case ..<3_600: return "\(seconds / 60) min \(seconds % 60) s"
    case ..<86_400: return "\(seconds / 3_600) h \(seconds / 60 % 60) min"
    default: return "\(seconds / 86_400) d \(seconds / 3_600 % 24) h"
    }
  }
}
