import Foundation
import PurchaseSyncTesting

/// What happened in a run, for its report: what the app tells of itself, and what the world and the parent saw. Any
/// thread may add to it.
final class RunLog: Sendable {
  private let lock = NSLock()
  private nonisolated(unsafe) var events: [(at: Double, event: Report.Event)] = []
  private let started = ProcessInfo.processInfo.systemUptime

  func note(
    _ lane: Report.Lane, to: Report.Lane? = nil, _ kind: Report.Kind, _ text: String, detail: String? = nil,
    at uptime: Double = ProcessInfo.processInfo.systemUptime
  ) {
    let event = Report.Event(
      at: ((uptime - started) * 1e6).rounded() / 1e3, lane: lane, to: to, kind: kind, text: text,
      detail: detail)
    lock.withLock { unsafe events.append((uptime, event)) }
  }

  /// A line of the app's trace. What is none is the app's own talk.
  func heard(_ line: String) {
    do {
      let told = try JSONDecoder().decode(AppTrace.Line.self, from: Data(line.utf8))
      note(told.lane, to: told.to, told.kind, told.text, detail: told.detail, at: told.at)
    } catch {
      note(.app, .change, "said something", detail: line)
    }
  }

  /// A request of the app, or of the backend to the store, as the server sees it.
  func saw(_ moment: RequestMoment) {
    let isBackends = moment.path.hasPrefix("/inApps") || moment.path.hasSuffix("/verifyReceipt")
    let isStore = moment.path.hasPrefix("/store") || isBackends
    // The app asks again and again whether the store still has something: that is no news.
    if moment.path == "/store/unfinished" { return }
    let server: Report.Lane = isStore ? .store : .backend
    let client: Report.Lane = isBackends ? .backend : .app
    switch moment.phase {
    case .beforeHandling:
      note(client, to: server, .request, "\(moment.method) \(moment.path)")
      if let fault = moment.fault { note(server, .fault, fault, detail: "planned by the story") }
    case .afterHandling:
      note(server, to: client, .answer, "\(moment.status ?? 0)", detail: "to \(moment.method) \(moment.path)")
    }
  }

  /// In the order of time.
  var timeline: [Report.Event] {
    lock.withLock { unsafe events }.sorted { $0.at < $1.at }.map(\.event)
  }
}
