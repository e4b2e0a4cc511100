import Foundation
import PurchaseSQLite

/// The seconds from *able* to *delivered* of a run. Any thread may add to it.
///
/// A purchase is able to be delivered from the last of these moments on: it was paid; the app was opened; a fault struck a
/// request of the app; an account signed in or out, another Apple ID came, or the network came back; after a refused token,
/// the app presented one again. It is delivered when the backend has credited it. Where no app is open, as when the backend
/// grants by a notification of the store, nothing is measured.
///
/// Delays count with their length on the run's clock (`FastClock`), everything else with its real time: a busy computer
/// adds little.
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
    /// When the app worked at something, or the server at a request.
    var work: [Double] = []
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

  /// The server reads a request, or has committed its changes. Lists of the store change nothing: the app asks for them all
  /// the time, to see whether it is done.
  func worked(at now: Double = DeliveryNote.now) { state.withLock { $0.work.append(now) } }

  func heard(_ note: DeliveryNote) {
    state.withLock { state in
      switch note {
      case .waited(let from, let to, let seconds):
        state.waits.append(Wait(from: from, to: to, seconds: seconds))
      case .changed(let at): state.changes.append(at)
      case .worked(let at): state.work.append(at)
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
    let waits = Self.holding(state.waits, work: state.work)
    return state.delivered.compactMap { id, delivered -> Double? in
      guard let charged = state.charged[id],
        state.launches.contains(where: { $0.from <= delivered && delivered <= $0.to })
      else { return nil }
      let able = state.changes.reduce(charged) { $1 <= delivered ? max($0, $1) : $0 }
      return Self.seconds(from: able, to: delivered, waits)
    }.max()
  }

  /// The time between two moments, with each delay at its length in production.
  static func seconds(from start: Double, to end: Double, _ waits: [Wait]) -> Double {
    waits.reduce(end - start) { sum, wait in
      sum + max(0, min(wait.to, end) - max(wait.from, start)) * (max(1, wait.pace) - 1)
    }
  }

  /// The delays that held the app up, none of which overlap.
  ///
  /// A delay holds the app up from the last moment of work before its end on: what the app did while it passed was not held
  /// up by it. So a timer that ends amid a thousand uploads counts with the pause between two of them.
  static func holding(_ waits: [Wait], work: [Double] = []) -> [Wait] {
    let work = work.sorted()
    let parts = waits.map { wait in
      let from = max(wait.from, work.last(before: wait.to) ?? wait.from)
      return Wait(from: from, to: wait.to, seconds: (wait.to - from) * wait.pace)
    }
    return parts.sorted { $0.from < $1.from }.reduce(into: []) { held, wait in
      guard let last = held.last, wait.from < last.to else { return held.append(wait) }
      let (pace, to) = (max(last.pace, wait.pace), max(last.to, wait.to))
      held[held.count - 1] = Wait(from: last.from, to: to, seconds: (to - last.from) * pace)
    }
  }
}

extension [Double] {
  /// Of a sorted list.
  fileprivate func last(before moment: Double) -> Double? {
    var (low, high) = (0, count)
    while low < high {
      let middle = (low + high) / 2
      if self[middle] < moment { low = middle + 1 } else { high = middle }
    }
    return low > 0 ? self[low - 1] : nil
  }
}
