public import PurchaseQueue

/// Asks the store. That it could not be asked is an answer too, so nothing is thrown.
///
/// Two of them: ``StoreModel``, in process, and ``HTTPReceiptVerifier``, over `/verifyReceipt`. The second one blocks
/// its thread: call it before taking a lock, and give the model what came of it.
public protocol ReceiptVerifier: Sendable {
  /// The store's answer at a moment.
  func answer(to query: VerificationQuery, now: Timestamp) -> StoreAnswer
}
