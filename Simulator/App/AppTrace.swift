import CommandLineTools
import Foundation

/// Events that the simulated app prints as JSON lines on standard output: for the report, never for the score.
struct AppTrace: Sendable {
  let isOn: Bool

  /// One line.
  struct Line: Codable {
    /// The system's uptime in seconds: the same clock in every process.
    var at: Double
    var lane: Report.Lane
    var to: Report.Lane?
    var kind: Report.Kind
    var text: String
    var detail: String?
  }

  func note(
    _ lane: Report.Lane, to: Report.Lane? = nil, _ kind: Report.Kind, _ text: String, detail: String? = nil
  ) {
    guard isOn else { return }
    let line = Line(
      at: ProcessInfo.processInfo.systemUptime, lane: lane, to: to, kind: kind, text: text, detail: detail)
    do {
      Terminal.line(String(decoding: try JSONEncoder().encode(line), as: UTF8.self))
    } catch {
      Terminal.error("app: a line of the trace could not be written: \(error)")
    }
  }

  /// Puts checkpoints into the report after which something is durable.
  func passed(_ checkpoint: String) {
    guard isOn, let text = Self.commits[checkpoint] else { return }
    note(.queue, .commit, text, detail: "checkpoint \(checkpoint)")
  }

  private static let commits = [
    "order.committed": "the order is durable", "enqueue.committed": "the purchase is durable",
    "enqueue.mirrored": "mirrored to the keychain", "attempt.committed": "the attempt is recorded",
    "settle.committed": "settled: tombstone, to be finished", "settle.mirrored": "the mirror is removed",
    "finish.committed": "finished at the store", "quarantine.committed": "moved to quarantine",
    "release.committed": "released from quarantine", "vault.restored": "restored from the keychain",
    "kept": "written to the app's list", "removed": "removed from the app's list",
  ]
}
