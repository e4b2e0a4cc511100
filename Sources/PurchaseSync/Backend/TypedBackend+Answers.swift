import AppStoreReceipts
import PurchaseQueue

/// Why a call of a ``PurchaseBackend`` brought no answer.
enum CallFailure: Error, Hashable {
  /// The backend said what to do.
  case said(BackendFailure)
  /// It, or the task that waited for it, was cancelled.
  case cancelled
  /// Anything else, without a description of the app's error: that may hold a token or a receipt.
  case failed(String)

  static func answer<Answer: Sendable>(
    of work: () async throws -> Answer
  ) async -> Result<Answer, CallFailure> {
    do {
      return .success(try await work())
    } catch  where error is CancellationError || Task.isCancelled {
      // A URL session of the app answers a cancelled task with an error of its own.
      return .failure(.cancelled)
    } catch let failure as BackendFailure {
      return .failure(.said(failure))
    } catch {
      return .failure(.failed(Redaction.line(reason(of: error))))
    }
  }

  static func reason(of error: any Error) -> String { "the backend failed with \(type(of: error))" }

  var reason: String {
    switch self {
    case .said(let failure):
      if case .refused(let reason) = failure {
        "HTTP \(failure.status): \(Redaction.line(reason))"
      } else {
        "HTTP \(failure.status)"
      }
    case .cancelled: "the task was cancelled"
    case .failed(let reason): reason
    }
  }

  func ofUpload(by caller: BackendCaller) -> UploadFailure {
    switch self {
    // The device sends in its own name, and the account's token is refused.
    case .said(.tokenRefused): caller.account != nil && !caller.isBuyer ? .accountRefused : .tokenRefused
    case .said(.refused): .backendFault(reason: reason)
    case .said(.busy(let pause)):
      .backendBusy(reason: reason, retryAfterMilliseconds: pause.map(Self.milliseconds))
    case .cancelled: .interrupted
    case .failed: .retry(reason: reason, retryAfterMilliseconds: nil)
    }
  }

  var ofOrder: OrderFailure {
    switch self {
    case .said(.tokenRefused): .tokenRefused
    case .said(let failure):
      if case .refused = failure { .refused(status: failure.status) } else { .unreachable(reason: reason) }
    case .cancelled, .failed: .unreachable(reason: reason)
    }
  }

  /// In whole seconds, as a `Retry-After` has it, and a year at most. Never shorter than the pause.
  static func milliseconds(of pause: Duration) -> Int64 {
    (min(max(0, pause.wholeMilliseconds), 365 * 86_400_000) + 999) / 1_000 * 1_000
  }
}

extension BackendFailure {
  /// The HTTP status that means the same, for one table of answers and one kind of line in logs.
  var status: Int {
    switch self {
    case .tokenRefused: 401
    case .refused: 422
    case .busy: 503
    }
  }
}

extension BackendCaller {
  /// The account in whose name a request is.
  init(_ account: AccountCredential) { self.init(account: account.account, token: account.token) }

  /// What the device sends in its own name has the account that is signed in next to it.
  init(_ sender: BackendSender) {
    switch sender {
    case .account(let account, _): self.init(account)
    case .device(let device, let account):
      self.init(account: account?.account, isBuyer: false, token: account?.token ?? device.stored)
    }
  }

  /// The account of a claim that only the app's ``UnclaimedPolicy`` names is not known to have bought.
  func asking(for claim: Claim) -> BackendCaller {
    let evidence = claim.evidence?.split(separator: ",") ?? []
    guard evidence.contains(where: { $0 == MatchEvidence.ownerSignedIn.rawValue }) else { return self }
    var caller = self
    caller.isBuyer = false
    return caller
  }
}

extension ClaimVerdict {
  /// The backend gave no verdict about the claim: it is sent again.
  init(pending claim: Claim, _ reason: String, for caller: BackendCaller) {
    self.init(.pending(reason: reason), of: claim, for: caller)
  }

  init(_ verdict: BackendVerdict, of claim: Claim, for caller: BackendCaller) {
    self.init(environment: claim.environment, transactionID: claim.transactionID, verdict: .pending)
    owner = caller.account == nil ? .device : .yours
    orderNumber = claim.orderNumber
    switch verdict {
    case .granted, .duplicate:
      self.verdict = verdict == .granted ? .granted : .duplicate
      // The backend leaves it to the device which of the account's orders was paid: the most likely one.
      if caller.isBuyer, orderNumber == nil { orderNumber = claim.candidates?.first }
    case .lapsed: self.verdict = .lapsed
    case .refunded: self.verdict = .refunded
    case .partlyRefunded(let share):
      (self.verdict, refundedShare) = (.refunded, share.milliPercent)
      // The rest is credited, so the order is paid.
      if caller.isBuyer, orderNumber == nil { orderNumber = claim.candidates?.first }
    case .belongsToAnother: (self.verdict, owner) = (.otherOwner, .another)
    case .pending(let reason, let pause):
      self.reason = reason
      retryAfter = pause.map { Double($0.wholeMilliseconds) / 1_000 }
      owner = nil
    case .rejected(let reason): (self.verdict, self.reason, owner) = (.rejected, reason, nil)
    }
  }
}
