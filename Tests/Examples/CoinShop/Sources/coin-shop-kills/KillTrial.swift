import CoinShop
import Company
import Foundation
import PurchaseSync
import PurchaseSyncTesting

/// The store and the company are in this process, over HTTP. The app is a child process that is killed by SIGKILL.
struct KillTrial {
  let kills: Int
  let seed: UInt64
  let bug: Bug

  func run() throws {
    let directory = FileManager.default.temporaryDirectory.path + "/coin-shop-" + UUID().uuidString
    try FileManager.default.createDirectory(atPath: directory + "/phone", withIntermediateDirectories: true)
    let server = try MockServer(
      databasePath: directory + "/unused.sqlite",
      products: ["gems.100", "coins.500"].map { StoreProduct(id: $0, kind: .consumable) },
      bundleID: "com.example")
    try server.start()
    let company = Company(store: server)
    server.serve("/iap/verify") { company.answer($0) }
    let result = Result { try run(server, company, directory + "/phone") }
    server.stop()
    try FileManager.default.removeItem(atPath: directory)
    try result.get()
  }

  private func run(_ server: MockServer, _ company: Company, _ phone: String) throws {
    var random = SplitMix64(seed: seed)
    var said = ""
    var underWay = 0
    for _ in 1...kills {
      server.setFaults(
        .random(
          seed: random.next(), paths: ["/iap/verify", "/store/finish", "/store/unfinished"], requests: 20,
          chance: 0.05))
      let asks = Int.random(in: 0..<10, using: &random) == 0
      server.withStore { $0.setAccount("apple-1", asksToBuy: asks) }
      let moment = Moment(
        words: Int.random(in: 0...8, using: &random),
        milliseconds: Bool.random(using: &random) ? 0 : .random(in: 0..<100, using: &random))
      said += try launch(server, phone, seed: random.next() | 1, killedAt: moment)
      if server.withStore({ $0.charges.count })
        > (try savedPages(phone)).values.reduce(0, { $0 + $1.credits.count })
      {
        underWay += 1
      }
      try approveAll(server)
    }
    server.setFaults(.none)
    server.withStore { $0.setAccount("apple-1", asksToBuy: false) }
    var left = -1
    for _ in 0..<10 where left != 0 {
      _ = try launch(server, phone, seed: 0, killedAt: nil)
      left = server.withStore { $0.unfinished(storeAccount: "apple-1").count }
    }
    print("killed \(kills) times (seed \(seed)), \(underWay) times with a payment on its way")
    try judge(server, company, phone, said)
  }

  private func approveAll(_ server: MockServer) throws {
    let moment = server.moment
    try server.withStore { (store) throws(StoreModelError) in
      for request in store.requests where request.state == .waiting {
        _ = try store.approve(requestID: request.id, now: moment)
      }
    }
  }

  private func savedPages(_ phone: String) throws -> [String: SavedPage] {
    let wallet = FileManager.default.contents(atPath: phone + "/wallet.json") ?? Data("{}".utf8)
    return try JSONDecoder().decode([String: SavedPage].self, from: wallet)
  }

  /// By what the store charged and the company's ledger, not by what the app says.
  private func judge(_ server: MockServer, _ company: Company, _ phone: String, _ said: String) throws {
    let charges = try server.snapshot().charges
    var due: [String: Int] = [:]
    for charge in charges {
      guard let credit = company.credits[charge.transactionID] else { continue }
      due[credit.user, default: 0] += CoinShop.products[charge.productID, default: 0] * charge.quantity
    }
    let pages = try savedPages(phone)
    let unheard = charges.count { company.credits[$0.transactionID] == nil }
    let sold = said.count { $0 == "+" }
    print(
      "\(charges.count) payments, \(sold) of them seen by a screen, \(unheard) not at the company")
    var faults = unheard == 0 ? [] : ["\(unheard) payments are lost"]
    for account in Set(due.keys).union(pages.keys).sorted() {
      let (paid, held) = (due[account] ?? 0, pages[account]?.coins ?? 0)
      print("\(account): \(paid) coins paid, \(held) in the wallet")
      if paid != held { faults.append("\(account) paid \(paid) coins and has \(held)") }
    }
    if charges.count < kills / 2 || sold == 0 { faults.append("too little was bought to show anything") }
    switch (bug, faults.isEmpty) {
    case (.none, true): print("each payment is in the wallet once")
    case (.none, false): throw Failure(description: faults.joined(separator: "; "))
    case (_, true): throw Failure(description: "the planted bug \(bug.rawValue) was not found")
    case (_, false): print("found the planted bug \(bug.rawValue): " + faults.joined(separator: "; "))
    }
  }

  /// When the app is killed.
  private struct Moment {
    /// After so many words of the app.
    var words: Int
    /// And so much later. At once hits the moment between a credit and its confirmation.
    var milliseconds: UInt32
  }

  /// Launches the app, kills it, and returns what it said.
  private func launch(
    _ server: MockServer, _ phone: String, seed: UInt64, killedAt moment: Moment?
  ) throws -> String {
    guard let executable = Bundle.main.executableURL else {
      throw Failure(description: "this process does not know its own executable")
    }
    let (child, output) = (Process(), Pipe())
    child.executableURL = executable
    child.arguments = ["app", server.baseURL.absoluteString, phone, String(seed), bug.rawValue]
    child.standardOutput = output
    try child.run()
    var said = Data()
    if let moment {
      while said.count < moment.words {
        let more = output.fileHandleForReading.availableData
        if more.isEmpty { break }
        said += more
      }
      usleep(moment.milliseconds * 1_000)
      kill(child.processIdentifier, SIGKILL)
    }
    said += output.fileHandleForReading.readDataToEndOfFile()
    child.waitUntilExit()
    let wasKilled = child.terminationReason == .uncaughtSignal && child.terminationStatus == SIGKILL
    guard moment == nil ? child.terminationStatus == 0 : wasKilled else {
      throw Failure(description: "a launch ended by itself with status \(child.terminationStatus)")
    }
    return String(decoding: said, as: UTF8.self)
  }
}
