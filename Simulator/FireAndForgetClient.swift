import AppStoreReceipts
import FaultInjection
import Foundation
import PurchaseQueue
import PurchaseSync
import PurchaseSyncTesting

/// The naive app of most tutorials: starts the upload, finishes without waiting for the answer, keeps nothing.
struct FireAndForgetClient {
  let options: AppOptions
  let failpoints: Failpoints

  func live() async throws -> Int32 {
    let store = MockStoreClient(base: options.server, device: Scenario.phone)
    // The payment queue's observer: whatever the store still holds is delivered at launch.
    var account = options.signedIn.first
    for transaction in try await store.unfinished().transactions {
      try await handle(transaction, store, account)
    }
    for step in options.steps {
      switch step {
      case .buy(let product, let buyer):
        account = buyer
        try await buy(product, store, account)
      case .buyWithoutOrder(let product): try await buy(product, store, account)
      case .signIn(let name): account = name
      case .signOut(let name): if account == name { account = nil }
      case .useStoreAccount(let name): try await store.signIn(name)
      case .use(let milliseconds): try await Task.sleep(for: .milliseconds(milliseconds))
      case .claim, .jumpClock: break  // It knows neither.
      }
    }
    return ExitCode.ok
  }

  private func buy(_ product: String, _ store: MockStoreClient, _ account: String?) async throws {
    let transaction = try await store.pay(product: product, quantity: 1, accountToken: nil)
    failpoints.pass("payment.after")
    try await handle(transaction, store, account)
  }

  private func handle(
    _ transaction: StoreTransaction, _ store: MockStoreClient, _ account: String?
  ) async throws {
    let upload = Task { await send(transaction, account) }
    _ = try await store.finish(transactionID: transaction.transactionID)
    failpoints.pass("upload.sending")
    let status = await upload.value
    failpoints.pass("upload.received")
    Terminal.line(#"{"event":"uploaded","status":\#(status)}"#)
  }

  /// The HTTP status, or 0 where there was no answer: nobody looks at it, as in the tutorials.
  private func send(_ transaction: StoreTransaction, _ account: String?) async -> Int {
    let claim = Claim(
      transactionID: transaction.transactionID, originalTransactionID: transaction.originalTransactionID,
      environment: transaction.environment.rawValue, productID: transaction.productID,
      quantity: transaction.quantity, purchasedAt: transaction.purchasedAt, match: .none)
    let proof = ProofDocument(
      kind: ProofKind(rawValue: transaction.proof.kind), data: Self.text(of: transaction.proof))
    let device = UUID()
    do {
      let body = try JSONEncoder().encode(UploadRequest(device: device, proof: proof, claims: [claim]))
      let name = account.map { "Bearer token-" + $0 } ?? "Device " + device.uuidString
      let request = BackendRequest(
        method: "POST", path: "v1/receipts", headers: ["Authorization": name], body: body)
      return try await URLSessionTransport(base: options.server, timeout: 5).send(request).status
    } catch {
      return 0
    }
  }

  private static func text(of proof: Proof) -> String {
    proof.kind == ProofKind.signedTransaction.rawValue
      ? String(decoding: proof.bytes, as: UTF8.self) : Data(proof.bytes).base64EncodedString()
  }
}
