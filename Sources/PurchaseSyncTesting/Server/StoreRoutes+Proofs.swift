import AppStoreDocuments
import AppStoreReceipts
import Foundation
import LoopbackHTTP
import PurchaseQueue

/// Routes about signatures: the root that a backend has to trust, and proofs on demand, right or broken. They are for the
/// tests of a backend; no client of the App Store has them.
///
/// | route | what |
/// | --- | --- |
/// | `GET /store/root.cer` | the test root, in DER |
/// | `POST /store/ocsp` | whether a certificate is revoked (RFC 6960) |
/// | `GET /store/transactions/ID/signed` | the signed transaction, and the renewal info of a subscription |
/// | `PUT /store/transactions/ID/statement` | `{"revocationPercentage": 120000}`: from now on the store says this of it, until it is restarted |
/// | `GET /store/transactions/ID/notification?type=TYPE&subtype=SUBTYPE` | a signed notification about it as it is now |
/// | `GET /store/app-transaction?storeAccount=NAME` | the signed app transaction |
/// | `GET /store/receipt?storeAccount=NAME` | the app receipt |
///
/// With `broken=NAME` in the query, the last four have that defect (``BrokenProof``). With `chain=ended` the first of them is
/// signed by a chain that has ended since (``ChainAge``): the store's clock has to be before its end. With `bundleID=NAME`
/// a signed transaction, a notification and an app receipt are another app's.
extension MockState {
  static func rootCertificate(_ mock: inout MockState, _ call: Route.Call) -> HTTPResponse {
    HTTPResponse(
      status: 200, headers: ["Content-Type": "application/pkix-cert"], body: TestChain.root)
  }

  static func certificateStatus(_ mock: inout MockState, _ call: Route.Call) -> HTTPResponse {
    HTTPResponse(
      status: 200, headers: ["Content-Type": "application/ocsp-response"],
      body: OCSPResponder.answer(to: call.request.body))
  }

  static func signedProofs(_ mock: inout MockState, _ call: Route.Call) throws -> SignedProofs {
    let (record, forge) = try mock.proof(call, allowing: ["broken", "chain", "bundleID"])
    let notifications = NotificationForge(receipts: forge, environment: record.environment)
    return SignedProofs(
      signedTransactionInfo: try aged(forge, call).signedTransaction(record, signedAt: call.now),
      signedRenewalInfo: mock.store.renewal(of: record.originalTransactionID).map {
        notifications.signedRenewalInfo($0, signedAt: call.now)
      })
  }

  /// The transaction as it is signed from now on, with these fields in place of the record's.
  static func setStatement(_ mock: inout MockState, _ call: Route.Call) throws -> SignedProofs {
    let (record, _) = try mock.proof(call, allowing: [])
    try JSONBody.check(call.request)
    guard let fields = try JSONValue(json: Data(call.request.body)).object else {
      throw HTTPProblem.malformed("the body is no object")
    }
    mock.store.forge.statements[record.transactionID] = fields
    return try signedProofs(&mock, call)
  }

  static func appTransaction(_ mock: inout MockState, _ call: Route.Call) throws -> SignedAppTransactionInfo {
    try call.request.allow(query: ["storeAccount", "device", "broken"])
    guard try mock.account(of: call.request) != nil else { throw StoreModelError.noStoreAccount }
    let forge = mock.store.signer.breaking(try defect(in: call.request) ?? mock.store.faults.brokenProofs)
    return SignedAppTransactionInfo(
      signedAppTransactionInfo: NotificationForge(receipts: forge, environment: mock.store.environment)
        .signedAppTransaction(createdAt: call.now))
  }

  /// The transaction that a path names, and the forge for its proofs.
  mutating func proof(
    _ call: Route.Call, allowing query: Set<String> = ["broken"]
  ) throws -> (StoreTransactionRecord, ReceiptForge) {
    try call.request.allow(query: query)
    store.advance(to: call.now)
    guard let record = store.transaction(call.parameter) else {
      throw StoreModelError.unknownTransaction(call.parameter)
    }
    let defect = try Self.defect(in: call.request) ?? store.faults.brokenProofs
    return (record, store.forge.breaking(defect).forApp(call.request.query["bundleID"]))
  }

  /// The forge with the chain that a query asks for.
  private static func aged(_ forge: ReceiptForge, _ call: Route.Call) throws -> ReceiptForge {
    guard let name = call.request.query["chain"] else { return forge }
    guard let chain = ChainAge(rawValue: name) else {
      throw HTTPProblem.invalid("chain: neither current nor ended")
    }
    guard chain == .current || call.now < ChainAge.end else {
      throw HTTPProblem.invalid(
        "chain: it ended on 2025-10-10. Move the clock to before that: POST /admin/clock")
    }
    var aged = forge
    aged.chain = chain
    return aged
  }

  /// The defect that a query asks for; nil for none.
  static func defect(in request: HTTPRequest) throws -> BrokenProof? {
    guard let name = request.query["broken"] else { return nil }
    guard let defect = BrokenProof(rawValue: name) else {
      let names = BrokenProof.allCases.map(\.rawValue).joined(separator: ", ")
      throw HTTPProblem.invalid("broken: not one of \(names)")
    }
    return defect
  }
}

struct SignedProofs: Codable {
  var signedTransactionInfo: String
  var signedRenewalInfo: String?
}

struct SignedAppTransactionInfo: Codable { var signedAppTransactionInfo: String }
