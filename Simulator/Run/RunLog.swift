import Foundation
import PurchaseSQLite
import PurchaseSyncTesting

/// The events of a run, for its report: those that the app prints, and those that the parent and the mock server see.
/// Any thread may add to it.
final class RunLog: Sendable {
  private let events = Locked<[(at: Double, event: Report.Event)]>([])
  private let started = ProcessInfo.processInfo.systemUptime

  func note(
    _ lane: Report.Lane, to: Report.Lane? = nil, _ kind: Report.Kind, _ text: String, detail: String? = nil,
    at uptime: Double = ProcessInfo.processInfo.systemUptime
  ) {
    let event = Report.Event(
      at: ((uptime - started) * 1e6).rounded() / 1e3, lane: lane, to: to, kind: kind, text: text,
      detail: detail)
    events.withLock { $0.append((uptime, event)) }
  }

  /// Takes a line of the app's trace. Any other line is shown as a message of the app.
  func heard(_ line: String) {
    do {
      let told = try JSONDecoder().decode(AppTrace.Line.self, from: Data(line.utf8))
      note(told.lane, to: told.to, told.kind, told.text, detail: told.detail, at: told.at)
    } catch {
      note(.app, .change, "printed a message", detail: line)
    }
  }

  /// Takes a request of the app, or of the backend to the store, as the server sees it.
  func saw(_ moment: RequestMoment) {
    let isBackends = moment.path.hasPrefix("/inApps") || moment.path.hasSuffix("/verifyReceipt")
    let isStore = moment.path.hasPrefix("/store") || isBackends
    // The app polls this again and again.
    if moment.path == "/store/unfinished" { return }
    let server: Report.Lane = isStore ? .store : .backend
    let client: Report.Lane = isBackends ? .backend : .app
    switch moment.phase {
    case .beforeHandling:
      note(client, to: server, .request, "\(moment.method) \(moment.path)")
      if let fault = moment.fault { note(server, .fault, fault, detail: "planned by the scenario") }
    case .afterHandling:
      note(server, to: client, .answer, "\(moment.status ?? 0)", detail: "to \(moment.method) \(moment.path)")
    }
  }

  /// In the order of time.
  var timeline: [Report.Event] { events.value.sorted { $0.at < $1.at }.map(\.event) }
}
