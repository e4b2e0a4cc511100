import PurchaseQueue

/// The app's answer to a request for an account's token.
enum CredentialAnswer: Hashable {
  case token(AccountCredential)
  /// The account is signed out.
  case none
  /// The app did not answer in time, or the task was cancelled.
  case late

  /// The failure of an upload or an adoption without a token.
  func failure(in lane: Lane, isCancelled: Bool) -> UploadFailure {
    if self == .none { return UploadFailure.signInNeeded.inLane(lane) }
    if isCancelled { return .interrupted }
    return .retry(reason: "the credentials did not come in time", retryAfterMilliseconds: nil)
  }
}

/// In whose name an upload goes out, or why it does not.
///
/// | lane | token | none | late |
/// | --- | --- | --- | --- |
/// | of an account | the account | a sign-in is needed | the lane waits |
/// | of a question | the device, with the account that asks | a sign-in is needed | not prepared |
/// | of the device | the device, with the account that is signed in | the device alone | not prepared |
///
/// The backend says what is the signed-in account's own, and credits nothing to it. Without its token, the final answer
/// would be that the account's own purchases are another's: while the token does not come, the upload waits.
struct SenderChoice {
  let lane: Lane
  let device: DeviceIdentity

  func sender(_ answer: CredentialAnswer, isCancelled: Bool) -> Result<BackendSender, UploadFailure> {
    if lane.account != nil {
      guard case .token(let credential) = answer else {
        return .failure(answer.failure(in: lane, isCancelled: isCancelled))
      }
      return .success(.account(credential, on: device))
    }
    switch answer {
    case .token(let credential): return .success(.device(device, signedIn: credential))
    case .none where lane.asker != nil: return .failure(answer.failure(in: lane, isCancelled: isCancelled))
    case .none: return .success(.device(device, signedIn: nil))
    case .late:
      // Nothing was sent, and no entry is at fault.
      return .failure(
        isCancelled
          ? .interrupted : .unprepared(reason: "the token of the signed-in account does not come"))
    }
  }
}
