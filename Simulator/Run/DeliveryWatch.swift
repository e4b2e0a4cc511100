import Foundation
import PurchaseSQLite

/// The seconds from *able* to *delivered* of a run. Any thread may add to it.
///
/// A purchase is able to be delivered from the last of these moments on: it was paid; the app was opened; a fault struck a
/// request of the app; an account signed in or out, another Apple ID came, or the network came back; after a refused token,
/// the app presented one again. It is delivered when the backend has credited it. Where no app is open, as when the backend grants by a notification of the store, nothing is
/// measured.
///
/// Retry delays count with their length in production, everything else with its real time: a busy computer adds little.
final class DeliveryWatch: Sendable {
  /// A delay, by the system's uptime, and its length in production.
  struct Wait: Equatable {
    var from: Double
    var to: Double
    var seconds: Double

    /// How many seconds one second of it stands for.
    var pace: Double { to > from ? seconds / (to - from) : 1 }
  }

  private struct State {
    /// By transaction.
    var charged: [String: Double] = [:]
    var delivered: [String: Double] = [:]
    var changes: [Double] = []
    var waits: [Wait] = []
    var launches: [(from: Double, to: Double)] = []
    var open = 0
    /// The backend refused the app's token, and no request has come since.
    var lacksToken = false
  }

  private let state = Locked(State())

  /// A process of the app begins.
  func launched(at now: Double = DeliveryNote.now) {
    state.withLock { state in
      state.open += 1
      state.launches.append((now, .infinity))
      state.changes.append(now)
    }
  }

  /// A process of the app has ended.
  func ended(at now: Double = DeliveryNote.now) {
    state.withLock { state in
      state.open -= 1
      guard state.open == 0 else { return }
      for index in state.launches.indices where state.launches[index].to == .infinity {
        state.launches[index].to = now
      }
    }
  }

  /// The server reads a request. `fault` is the name of the one that strikes it.
  func requested(fault: String?, at now: Double = DeliveryNote.now) {
    state.withLock { state in
      if fault != nil || state.lacksToken { state.changes.append(now) }
      state.lacksToken = fault == "respond 401"
    }
  }

  func heard(_ note: DeliveryNote) {
    state.withLock { state in
      switch note {
      case .waited(let from, let to, let seconds):
        state.waits.append(Wait(from: from, to: to, seconds: seconds))
      case .changed(let at): state.changes.append(at)
      }
    }
  }

  /// Looks for transactions that were charged, or credited, since the last look.
  func look(charged: [String], credited: [String], at now: Double = DeliveryNote.now) {
    state.withLock { state in
      for id in charged where state.charged[id] == nil { state.charged[id] = now }
      for id in credited where state.delivered[id] == nil { state.delivered[id] = now }
    }
  }

  /// Of the purchase that took longest; nil if none was delivered while the app was open.
  var seconds: Double? {
    let state = state.value
    return state.delivered.compactMap { id, delivered -> Double? in
      guard let charged = state.charged[id],
        state.launches.contains(where: { $0.from <= delivered && delivered <= $0.to })
      else { return nil }
      let able = state.changes.reduce(charged) { $1 <= delivered ? max($0, $1) : $0 }
      return Self.seconds(from: able, to: delivered, state.waits)
    }.max()
  }

  /// The time between two moments, with each delay at its length in production. Where several pass, the longest counts.
  static func seconds(from start: Double, to end: Double, _ waits: [Wait]) -> Double {
    let touched = waits.filter { $0.from < end && $0.to > start }
    let borders = touched.flatMap { [$0.from, $0.to] }.filter { $0 > start && $0 < end }
    let moments = [start] + borders.sorted() + [end]
    return zip(moments, moments.dropFirst()).reduce(0) { sum, part in
      let middle = (part.0 + part.1) / 2
      let pace = touched.filter { $0.from <= middle && middle <= $0.to }.map(\.pace).max() ?? 1
      return sum + (part.1 - part.0) * max(1, pace)
    }
  }
}
