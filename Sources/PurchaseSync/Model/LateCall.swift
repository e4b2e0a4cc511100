public import Foundation

/// A call of the app's own code, of the store, or of the backend that did not return within its time limit. It is left
/// behind, and holds up nothing else. The row stays until the call returns, or until another of its kind does; one of
/// `fulfil` until it returns.
public struct LateCall: Sendable, Hashable {
  /// What was called.
  @nonexhaustive
  public enum Callback: String, Sendable, Hashable, CaseIterable {
    /// The shop's `fulfil`. Its outcome waits for it: see ``SyncConfiguration/fulfilmentTimeLimit``.
    case fulfil
    /// A payment sheet that has been open for ten minutes. The store is listed as after its end; no other sale waits for it.
    case sheet
    /// The app's credentials: see ``SyncConfiguration/credentialTimeLimit``.
    case credentials
    /// The app's answer whose an account token is: see ``SyncConfiguration/accountForToken``.
    case accountForToken
    /// A function of the store: see ``SyncConfiguration/storeTimeLimit``.
    case store
    /// The backend's transport: see ``SyncConfiguration/requestTimeLimit``.
    case transport
    /// A function of a ``PurchaseBackend``: see ``SyncConfiguration/backendTimeLimit``.
    case backend
  }

  /// What was called.
  public var callback: Callback
  /// What the call was about: a transaction's key, an order's number, an account, or the name of a function. Never a token or a proof.
  public var subject: String
  /// When the call began, the first of several in a row, by the device's clock.
  public var since: Date

  /// A late call, for an app's own previews and tests.
  public init(_ callback: Callback, about subject: String, since: Date) {
    (self.callback, self.subject, self.since) = (callback, subject, since)
  }
}
