import AppStoreReceipts
import Foundation
import LoopbackHTTP
import PurchaseQueue
import PurchaseSync
import PurchaseSyncTesting

extension BrokenBackend {
  /// Bugs by which one defect of a signature is overlooked, in one kind of document.
  static let defects: [BrokenBackend] =
    ProofDefect.ofTransactions.map { defect in
      BrokenBackend(
        "proof-" + defect.bug, "of a transaction: \(defect.overlooks)",
        hooks: BrokenHooks(hears: { answer, query, _, _, now in
          guard case .forged = answer.outcome, let proof = query.document,
            JWSText.defect(of: proof.data) == defect.broken
          else { return }
          believe(JWSText.payload(of: proof.data), in: &answer, now)
        }))
    }
    + ProofDefect.all.map { defect in
      BrokenBackend(
        "receipt-" + defect.bug, "of an app receipt: \(defect.overlooks)",
        hooks: BrokenHooks(hears: { answer, query, _, _, now in
          guard let receipt = appReceipt(query),
            receipt.opaqueValue == Array(defect.broken.rawValue.utf8)
          else { return }
          believe(receipt, in: &answer, now)
        }))
    }
    + ProofDefect.ofNotifications.map { defect in
      BrokenBackend(
        "notification-" + defect.bug, "of a notification: \(defect.overlooks)",
        hooks: BrokenHooks(before: { mock, call in
          guard let signed = signedPayload(of: call), JWSText.defect(of: signed) == defect.broken else {
            return nil
          }
          let notice = try read(call, mock) { _ in true }
          try mock.backend.change {
            $0.learn(notice.lessons, source: .notification(notice.type), now: call.now)
          }
          return try JSONBody.response(EmptyDocument())
        }))
    }
    + [
      BrokenBackend(
        "proof-app-unread", "the bundle id of a transaction is not looked at",
        hooks: ofOwnApp { $0.kind == .signedTransaction }),
      BrokenBackend(
        "receipt-app-unread", "the bundle id of an app receipt is not looked at",
        hooks: ofOwnApp { $0.kind == .appReceipt }),
      BrokenBackend(
        "notification-app-unread", "the bundle id of a notification is not looked at",
        hooks: BrokenHooks(before: { mock, call in
          guard let signed = signedPayload(of: call), mock.store.forge.verify(signed),
            let app = JWSText.payload(of: signed)?["data"]?["bundleId"]?.string,
            app != mock.store.forge.bundleID
          else { return nil }
          return try JSONBody.response(EmptyDocument())
        })),
      BrokenBackend(
        "rejections-unexplained", "a rejected claim has no reason",
        hooks: BrokenHooks(verdicts: { _, reply, _, _ in
          for index in reply.verdicts.indices where reply.verdicts[index].verdict == .rejected {
            reply.verdicts[index].reason = nil
          }
        })),
    ]

  private static func signedPayload(of call: Route.Call) -> String? {
    isNotification(call) ? json(of: call)?["signedPayload"]?.string : nil
  }

  /// The app receipt that a question is about, as it can be read without a verification.
  static func appReceipt(_ query: VerificationQuery) -> AppReceipt? {
    guard let proof = query.document, proof.kind == .appReceipt, let data = Data(base64Encoded: proof.data)
    else { return nil }
    do throws(ReceiptDecodingError) { return try AppReceipt(decoding: Array(data)) } catch { return nil }
  }

  /// Takes what a receipt says for genuine.
  private static func believe(_ receipt: AppReceipt, in answer: inout StoreAnswer, _ now: Timestamp) {
    let told = receipt.inApp.map { item in
      var told = VerifiedTransaction(
        transactionID: item.transactionID, environment: receipt.environment ?? .production,
        productID: item.productID, quantity: Int(item.quantity), purchaseDate: item.purchaseDate ?? 0,
        toldAt: now.milliseconds)
      told.bundleID = receipt.bundleID
      return told
    }
    answer = StoreAnswer(.genuine(StoreReport(told)))
  }

  /// Takes the transactions of these proofs for those of this app.
  private static func ofOwnApp(_ isMeant: @escaping @Sendable (ProofDocument) -> Bool) -> BrokenHooks {
    BrokenHooks(hears: { answer, query, _, mock, _ in
      guard var report = answer.report, let proof = query.document, isMeant(proof) else { return }
      for index in report.transactions.indices {
        report.transactions[index].bundleID = mock.store.forge.bundleID
      }
      answer.outcome = .genuine(report)
    })
  }
}
