import PurchaseQueue
import PurchaseSync
import Specification

/// What tempts an engine to work without end, and what makes it wait too long.
extension EngineSimulation {
  /// No network for ten minutes or more. Then it is back, and the app is informed; some tap again and again.
  func loseNetwork() {
    guard !isOffline else { return }
    isOffline = true
    buy()
    tell(nil, "the phone has no network")
    later(Int64(people.pick([11, 15, 120])) * 60_000) { [self] in
      isOffline = false
      tell(nil, "the network is back")
      guard !isHealed, let process = processes.last(where: \.isRunning), let engine = process.engine else {
        return
      }
      if watch?.content.rows.isEmpty == false { checker.mark(.cameOnline) }
      // Not every system says so.
      guard people.chance(700) else { return }
      wake(.networkBack, process, engine)
      for tap in 0..<people.pick([0, 1, 10]) {
        later(Int64(tap) * 1_000) { [self] in
          if process.isRunning { wake(.userAsked, process, engine) }
        }
      }
    }
  }

  /// For some minutes.
  func tempt(_ act: EngineAct) {
    temptations.insert(act)
    tell(nil, "\(act) begins")
    later(Int64(people.pick([10, 100, 300])) * 1_000) { [self] in
      temptations.remove(act)
      tell(nil, "\(act) ends")
    }
  }

  func isTempted(by act: EngineAct) -> Bool { !isHealed && temptations.contains(act) }

  /// The epoch of a reply: two servers with a ledger each answer in turn.
  var epochOfReply: String {
    guard isTempted(by: .twoServers), uploads.isMultiple(of: 2) else { return "epoch-0" }
    checker.mark(.twoServers)
    return "epoch of the other server"
  }

  /// The app reports a sign-in whenever it is asked for a token that the backend then refuses.
  func callBack(_ account: String, _ process: EngineProcess) {
    guard isTempted(by: .callsBack), process.isRunning, let engine = process.engine else { return }
    checker.mark(.calledBack)
    wake(people.chance(500) ? .signedIn(account: account) : .userAsked, process, engine)
  }
}
