import PurchaseQueue
import PurchaseSync

/// The state of one party of a run at one moment, a line for each thing that it knows.
package struct PartyState: Sendable, Hashable {
  package var name: String
  package var lines: [String]
}

/// The parties side by side: the faults, the store, the backend, each phone with its queue, and each process.
extension MachineSimulation {
  package var parties: [PartyState] {
    [
      PartyState(
        name: "faults", lines: faults.map { "\($0.fault)" + ($0.phone < 0 ? "" : ", phone \($0.phone + 1)") }),
      PartyState(name: "store", lines: store.sales.indices.map(sale)),
      PartyState(name: "backend", lines: backendLines),
    ] + phones.map { PartyState(name: "phone \($0.number + 1)", lines: lines(of: $0)) }
      + processes.map {
        PartyState(
          name: "\($0.role == 0 ? "app" : "extension") of phone \($0.phone.number + 1)", lines: lines(of: $0))
      }
  }

  private func sale(_ number: Int) -> String {
    let sale = store.sales[number]
    return "\(Names.id(number)): \(Names.products[sale.product]) of \(Names.storeAccounts[sale.buyer])"
      + (sale.order < 0 ? "" : " for order \(sale.order + 1)")
      + (sale.isListed ? ", unfinished" : ", finished")
      + (sale.revokedAt == nil ? "" : ", refunded")
  }

  private var backendLines: [String] {
    backend.orders.indices.map { number in
      let order = backend.orders[number]
      return "order \(number + 1) of \(Names.accounts[order.account]): "
        + (order.fulfilledBy.map { "fulfilled by \(Names.id($0))" } ?? "open")
    }
      + backend.credits.map { credit in
        "\(Names.id(credit.sale)) is credited to " + owner(credit.owner)
      } + (backend.epoch == 0 ? [] : ["restored \(backend.epoch) times"])
  }

  private func owner(_ owner: LeanBackend.Owner) -> String {
    owner < 0 ? "phone \(-owner)" : Names.accounts[owner]
  }

  private func lines(of phone: Phone) -> [String] {
    let user = phone.user < 0 ? "no account" : Names.accounts[phone.user]
    var lines = ["\(user) uses the app, \(Names.storeAccounts[phone.storeAccount]) the store"]
    if phone.clock != 0 { lines.append("its clock differs by \(phone.clock / 3_600_000) h") }
    for sale in phone.shadow.rows.indices {
      let row = phone.shadow.rows[sale]
      if row.state != .none {
        lines.append(
          "\(Names.id(sale)): \(row.state) in lane \(Names.lanes[row.lane].rawValue), "
            + "\(row.attempts) attempts" + (row.order < 0 ? "" : ", order \(row.order + 1)")
            + (row.readyAt == 0 ? "" : ", waits until \(moment(row.readyAt, phone))"))
      }
      guard row.isBuried else { continue }
      lines.append(
        "\(Names.id(sale)): settled" + (row.hasPendingFinish ? ", owes the finish" : "")
          + (row.isUnconfirmed ? ", not seen by the app" : ""))
    }
    return lines
  }

  private func moment(_ time: Int64, _ phone: Phone) -> String {
    time <= 1 ? "now" : Trace.moment(time - Self.epoch - phone.clock)
  }

  private func lines(of process: Process) -> [String] {
    guard process.isAlive else { return ["does not run"] }
    var lines = [process.isSuspended ? "in the background" : "runs"]
    for number in process.uploads where number >= 0 {
      let upload = uploads[Int(number)]
      lines.append(
        "request for " + upload.claims.map { Names.id($0.sale) }.joined(separator: ", ")
          + " in lane \(Names.lanes[upload.lane].rawValue)"
          + (upload.reply == nil ? "" : ", the backend has answered"))
    }
    if !process.finishing.isEmpty {
      lines.append("finishes " + process.finishing.map { Names.id(Int($0)) }.joined(separator: ", "))
    }
    if process.listings.isRunning { lines.append("lists the store") }
    if let timer = process.timerAt { lines.append("timer at \(Trace.moment(timer))") }
    return lines
  }
}
