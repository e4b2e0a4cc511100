import PurchaseQueue
import PurchaseSQLite
import PurchaseSync

/// The seconds from *able* to *delivered* of a run, by its clock. Any thread may add to it.
///
/// A purchase is able to be delivered from the last of these moments on: it was paid; the app was opened; a fault struck a
/// request of the app; an account signed in or out, another Apple ID came, or the network came back; after a refused token,
/// the app presented one again. It is delivered when the backend has credited it. Where no app is open, as when the backend
/// grants by a notification of the store, nothing is measured.
///
/// The clock (`FastClock`) stands while the app works or waits for an answer: what counts is the delays.
final class DeliveryWatch: Sendable {
  private struct State {
    /// By transaction.
    var charged: [String: Timestamp] = [:]
    /// Nil for what was credited while no app was open.
    var delivered: [String: Timestamp?] = [:]
    var changes: [Timestamp] = []
    var open = 0
    /// The backend refused the app's token, and no request has come since.
    var lacksToken = false
  }

  private let now: @Sendable () -> Timestamp
  private let state = Locked(State())

  init(now: @escaping @Sendable () -> Timestamp) { self.now = now }

  /// A process of the app begins.
  func launched() {
    state.withLock { state in
      state.open += 1
      state.changes.append(now())
    }
  }

  /// A process of the app has ended.
  func ended() { state.withLock { $0.open -= 1 } }

  /// From this moment on other purchases can be delivered than before.
  func changed(at moment: Timestamp) { state.withLock { $0.changes.append(moment) } }

  /// The server reads a request. `fault` is the name of the one that strikes it.
  func requested(fault: String?) {
    state.withLock { state in
      if fault != nil || state.lacksToken { state.changes.append(now()) }
      state.lacksToken = fault == "respond 401"
    }
  }

  /// Looks for transactions that were charged, or credited, since the last look.
  func look(charged: [String], credited: [String]) {
    state.withLock { state in
      for id in charged where state.charged[id] == nil { state.charged[id] = now() }
      for id in credited where state.delivered[id] == nil {
        state.delivered[id] = .some(state.open > 0 ? now() : nil)
      }
    }
  }

  /// Of the purchase that took longest; nil if none was delivered while the app was open.
  var seconds: Double? {
    let state = state.value
    return state.delivered.compactMap { id, delivered -> Double? in
      guard let charged = state.charged[id], let delivered else { return nil }
      let able = state.changes.reduce(charged) { $1 <= delivered ? max($0, $1) : $0 }
      return Double(max(0, delivered.milliseconds(since: able))) / 1_000
    }.max()
  }
}
