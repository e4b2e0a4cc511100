package import PurchaseQueue

/// Asks the store. A failure to ask is an answer too, so no error is thrown.
///
/// ``StoreModel`` answers in process, ``HTTPReceiptVerifier`` over `/verifyReceipt`. The second one blocks its thread: call it
/// before taking a lock, and give the model its answers.
package protocol ReceiptVerifier: Sendable {
  func answer(to query: VerificationQuery, now: Timestamp) -> StoreAnswer
}
