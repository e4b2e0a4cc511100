import AppStoreReceipts
import Foundation
import LoopbackHTTP
import PurchaseQueue

extension WorldState {
  /// A server notification. Refunds and revocations take back the credit; other types are accepted and ignored.
  ///
  /// Version 2 is signed and counts as it is. Version 1 is not, so what it says is only a reason to ask the store.
  static func notify(_ world: inout WorldState, _ call: Route.Call) throws(HTTPProblem) -> HTTPResponse {
    let body = try JSONBody.decode(AnyNotification.self, from: call.request)
    let taken: [Reversal]?
    if let signed = body.signedPayload {
      taken = try world.reversals(signed: signed, now: call.now)
    } else if let type = body.notification_type {
      taken = world.reversals(type: type, items: body.unified_receipt?.latest_receipt_info ?? [])
    } else {
      throw .invalid("neither signedPayload nor notification_type")
    }
    guard let taken else { return try JSONBody.response(EmptyDocument(), status: 202) }
    try world.backend.perform(failing: HTTPProblem.failed) {
      model throws(HTTPProblem) -> (Void, [BackendWrite]) in
      var writes: [BackendWrite] = []
      for reversal in taken { writes += model.reverse(reversal.transaction, at: reversal.at) }
      return ((), writes)
    }
    return try JSONBody.response(EmptyDocument())
  }

  /// Nil if there is nothing to do for this type.
  private func reversals(signed: String, now: Timestamp) throws(HTTPProblem) -> [Reversal]? {
    let payload: SignedNotification
    do {
      payload = try JSONDecoder().decode(SignedNotification.self, from: CompactJWS(signed).payload)
    } catch {
      throw .malformed("signedPayload: not a signed notification")
    }
    guard store.forge.verify(signed) else { throw .invalid("signedPayload: the store did not sign it") }
    guard payload.notificationType == "REFUND" || payload.notificationType == "REVOKE" else { return nil }
    guard let signed = payload.data?.signedTransactionInfo, store.forge.verify(signed) else {
      throw .invalid("signedTransactionInfo: missing, or the store did not sign it")
    }
    do throws(ReceiptDecodingError) {
      let facts = try SignedTransaction(jws: signed)
      let moment = facts.revocationDate.map(Timestamp.init(milliseconds:)) ?? now
      return [Reversal(transaction: TransactionKey(facts), at: moment)]
    } catch {
      throw .malformed("signedTransactionInfo: not a signed transaction")
    }
  }

  private func reversals(type: String, items: [AnyNotification.Item]) -> [Reversal]? {
    guard type == "REFUND" || type == "CANCEL" else { return nil }
    return items.compactMap { item in
      guard let record = store.transaction(item.transaction_id), let moment = record.revokedAt else {
        return nil
      }
      return Reversal(transaction: TransactionKey(record), at: moment)
    }
  }
}

/// Both versions of a notification's body, under the store's own names.
private struct AnyNotification: Decodable {
  struct Receipt: Decodable { var latest_receipt_info: [Item]? }
  struct Item: Decodable { var transaction_id: String }

  var signedPayload: String?
  var notification_type: String?
  var unified_receipt: Receipt?
}

private struct SignedNotification: Decodable {
  struct Contents: Decodable { var signedTransactionInfo: String? }

  var notificationType: String
  var data: Contents?
}
