import PurchaseQueue
import Testing

@testable import PurchaseSync

/// In whose name an upload goes, without an engine: one in a wrong name credits another person.
@Suite struct SenderChoiceTests {
  private static let device = DeviceIdentity.simulated
  private static let alice = AccountCredential(account: "alice", token: "t")
  private static let unprepared = UploadFailure.unprepared(
    reason: "the token of the signed-in account does not come")
  private static let late = UploadFailure.retry(
    reason: "the credentials did not come in time", retryAfterMilliseconds: nil)

  private static let table:
    [(Lane, CredentialAnswer, isCancelled: Bool, Result<BackendSender, UploadFailure>)] = [
      (.account("alice"), .token(alice), false, .success(.account(alice, on: device))),
      (.account("alice"), .token(alice), true, .success(.account(alice, on: device))),
      (.account("alice"), .none, false, .failure(.signInNeeded)),
      (.account("alice"), .late, false, .failure(late)),
      (.account("alice"), .late, true, .failure(.interrupted)),
      (.device, .token(alice), false, .success(.device(device, signedIn: alice))),
      (.device, .none, false, .success(.device(device, signedIn: nil))),
      (.device, .late, false, .failure(unprepared)),
      (.device, .late, true, .failure(.interrupted)),
      (.question(of: "alice"), .token(alice), false, .success(.device(device, signedIn: alice))),
      (.question(of: "alice"), .none, false, .failure(.signInNeeded)),
      (.question(of: "alice"), .late, false, .failure(unprepared)),
      (.question(of: "alice"), .late, true, .failure(.interrupted)),
    ]

  @Test(arguments: table)
  private func `an upload goes in the name of its lane, or waits`(
    lane: Lane, answer: CredentialAnswer, isCancelled: Bool, result: Result<BackendSender, UploadFailure>
  ) {
    let choice = SenderChoice(lane: lane, device: Self.device)
    #expect(choice.sender(answer, isCancelled: isCancelled) == result)
  }

  /// What the store lists, whether the entry is an update, whether the upload was cancelled, and why it does not go.
  private static let proofs: [(Bool?, isUpdate: Bool, isCancelled: Bool, UploadFailure?)] = [
    (true, false, false, nil), (true, true, true, nil),
    (false, false, false, .proofMissing), (false, true, false, nil), (false, true, true, .interrupted),
    (nil, false, false, .proofMissing), (nil, true, false, .proofMissing), (nil, true, true, .interrupted),
  ]

  @Test(arguments: proofs)
  private func `without its proof only an update goes, and only if the store has answered`(
    isListed: Bool?, isUpdate: Bool, isCancelled: Bool, failure: UploadFailure?
  ) {
    let missing = StoredUpload.Missing(key: key("100"), isUpdate: isUpdate)
    let listed = isListed.map { $0 ? [key("100"): bought("100").proof] : [:] }
    #expect(missing.failure(in: listed, isCancelled: isCancelled) == failure)
  }
}
