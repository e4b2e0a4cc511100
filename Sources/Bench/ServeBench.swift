import Foundation
import PurchaseQueue
import PurchaseSync
import PurchaseSyncTesting

/// `bench serve`: the mock backend under load, over loopback with persistent connections, its database on disk.
struct ServeBench {
  static let bars = [1, 2, 3, 4, 5]

  private static let product = StoreProduct(id: "gems.100", kind: .consumable)

  let options: BenchOptions
  let child: BenchChild
  private var uploads: Int { options.quick ? 2_000 : 20_000 }

  func measure(_ report: (BenchSection) -> Void) throws {
    let disk = try Workbench(below: options.directory, name: ".bench", child)
    defer { disk.remove() }
    let server = try MockServer(
      databasePath: try disk.fresh() + "/backend.sqlite", products: [Self.product],
      bundleID: "com.example.app", now: Timestamp.wallClock)
    try server.start()
    defer { server.stop() }
    let load = ServeLoad(port: UInt16(server.baseURL.port ?? 0))
    var section = BenchSection(
      title: "50 persistent connections on loopback, client and server on the same processors")
    let requests = try Self.uploads(uploads, at: server)
    let result = try load.run(requests, status: 200)
    if options.wants(1) {
      section.bars.append(
        Bar(
          number: 1, what: "uploads, verified in process and durable", unit: .perSecond,
          measured: result.perSecond, bound: .atLeast(2_000)))
    }
    if options.wants(2) {
      section.bars.append(
        Bar(
          number: 2, what: "99 of 100 of them take", unit: .milliseconds,
          measured: try result.milliseconds(percentile: 99), bound: .atMost(40)))
    }
    let credits = try server.snapshot().credits.count
    guard credits == requests.count else {
      throw BenchError.wrongPayload(expected: requests.count, found: credits)
    }
    section.bars += try readBars(load, server)
    if options.wants(5) {
      server.verifyOverHTTP()
      let asked = try load.run(
        Self.uploads(options.quick ? 500 : 5_000, at: server, ofReceipts: true), status: 200)
      section.bars.append(
        Bar(
          number: 5, what: "uploads of receipts, verified over HTTP", unit: .perSecond,
          measured: asked.perSecond,
          bound: .atLeast(500)))
    }
    report(section)
  }

  /// Measures reads, and whether memory grows with them.
  private func readBars(_ load: ServeLoad, _ server: MockServer) throws -> [Bar] {
    let count = options.quick ? 5_000 : 100_000
    // Each request asks for another order, which does not exist: a record of each request would make memory grow.
    let reads = (0..<count).map {
      KeptConnection.request("GET", "/v1/orders/none-\($0)", authorization: "Bearer token-alice")
    }
    _ = try load.run(reads, status: 404)
    let before = try PeakMemory.ofThisProcess("VmRSS:")
    let result = try load.run(reads, status: 404)
    var bars: [Bar] = []
    if options.wants(3) {
      bars.append(
        Bar(
          number: 3, what: "requests that only read", unit: .perSecond, measured: result.perSecond,
          bound: .atLeast(10_000)))
    }
    if options.wants(4) {
      var bar = Bar(
        number: 4, what: "growth of memory over \(count) of them", unit: .megabytes, bound: .atMost(2),
        reason: "the system has no /proc/self/status")
      if let before, let after = try PeakMemory.ofThisProcess("VmRSS:") {
        bar.measured = Double(after - before) / 1_024
        bar.reason = nil
      }
      bars.append(bar)
    }
    return bars
  }

  /// Pays, and makes an upload for each payment.
  private static func uploads(
    _ count: Int, at server: MockServer, ofReceipts: Bool = false
  ) throws -> [[UInt8]] {
    let product = product.id
    let device = UUID()
    return try (0..<count).map { index in
      let now = Timestamp.wallClock()
      // Each receipt has its own store account, since a receipt has all purchases of its account.
      let storeAccount = ofReceipts ? "receipt-\(index)" : "apple-\(index % 50)"
      let (transaction, proof) = try server.withStore { store in
        let record = try store.pay(
          product: product, quantity: 1, accountToken: nil, storeAccount: storeAccount, now: now)
        guard ofReceipts, let receipt = store.receipt(storeAccount: storeAccount, now: now) else {
          let jws = store.forge.signedTransaction(record, signedAt: now)
          return (record.transactionID, ProofDocument(kind: .signedTransaction, data: jws))
        }
        let data = Data(receipt).base64EncodedString()
        return (record.transactionID, ProofDocument(kind: .appReceipt, data: data))
      }
      let claim = Claim(
        transactionID: transaction, environment: "Production", productID: product, quantity: 1,
        purchasedAt: now,
        match: .none)
      let upload = UploadRequest(
        device: device, proof: proof, claims: [claim])
      return KeptConnection.request(
        "POST", "/v1/receipts", authorization: "Bearer token-account-\(index % 50)",
        body: Array(try JSONEncoder().encode(upload)))
    }
  }
}
