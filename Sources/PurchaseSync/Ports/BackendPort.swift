package import PurchaseQueue

/// The backend as the engine sees it: what can be asked of it, and what its answers mean. The engine knows no protocol.
///
/// `HTTPBackend` speaks the project's own one over a ``BackendTransport``, and `TypedBackend` calls the app's own
/// ``PurchaseBackend``. The article *Retries* says what each answer means, and holds for both.
///
/// Each call sends one request, once: the engine counts and repeats them. It ends in time, and promptly when its task is
/// cancelled. Calls come from any thread.
package protocol BackendPort: Sendable {
  /// Asks for a verdict about each claim of one lane.
  func upload(_ upload: UploadRequest, in lane: Lane, from sender: BackendSender) async
    -> UploadClassification

  /// Makes an order before the payment. The same key is the same order.
  func makeOrder(
    _ wish: OrderRequest, key: String, for account: AccountCredential
  ) async -> OrderAnswer<OrderDocument>

  /// One page of the account's open orders; `cursor` is the `next` of the page before.
  func openOrders(
    after cursor: String?, of account: AccountCredential
  ) async -> OrderAnswer<OrderListDocument>

  /// One order of the account as the backend knows it.
  func order(_ number: String, of account: AccountCredential) async -> OrderAnswer<OrderDocument>

  /// Publishes the state of an order. The answer is the order as the backend knows it; nil if it does not say.
  func publish(_ notice: OrderNotice, of account: AccountCredential) async -> OrderAnswer<OrderDocument?>

  /// The account takes over what was bought on the device before the sign-in.
  func adopt(_ device: DeviceIdentity, by account: AccountCredential) async -> AdoptionEnd

  /// The reasons of answers that were not believed, each once.
  func takeRefusedReplies() -> [String]
}

extension BackendPort {
  /// All answers are believed.
  package func takeRefusedReplies() -> [String] { [] }
}

// MARK: Who asks

/// In whose name an upload goes out.
package enum BackendSender: Sendable, Hashable {
  /// An account that has bought. The device's name is in the upload, and its secret proves the name.
  case account(AccountCredential, on: DeviceIdentity)
  /// The device itself, and the account that is signed in on it: the backend says what is this account's own.
  case device(DeviceIdentity, signedIn: AccountCredential?)

  /// The account whose credential comes next to the device's.
  var signedIn: String? {
    if case .device(_, let account?) = self { account.account } else { nil }
  }
}

/// An account with its token. Never logged.
package struct AccountCredential: Sendable, Hashable, CustomStringConvertible, CustomReflectable {
  package var account: String
  /// As the app's credentials gave it.
  package var token: String

  package init(account: String, token: String) { (self.account, self.token) = (account, token) }

  /// Never the token.
  package var description: String { account }
  /// Without the token.
  package var customMirror: Mirror { Mirror(self, children: ["account": account]) }
}

/// The state of an order that the backend has not acknowledged.
package enum OrderNotice: Sendable, Hashable {
  /// The device made the order, which has its state.
  case made(DeviceOrder)
  /// An order of the backend's was cancelled, or waits for an approval.
  case became(OrderState, number: String)
}

// MARK: Answers

/// The meaning of the answer to an upload. Only a verdict is final.
package enum UploadClassification: Hashable, Sendable {
  /// The backend's answer, with a verdict for each claim.
  case verdicts(UploadReply)
  /// The answer has no verdicts, or there was no answer.
  case failure(UploadFailure)
}

/// The answer to a request about orders.
package typealias OrderAnswer<Answer> = Result<Answer, OrderFailure>

/// Why a request about orders brought no answer. None of them says anything about a payment.
package enum OrderFailure: Error, Hashable, Sendable {
  /// There was no answer, or none about the order: it may be repeated.
  case unreachable(reason: String)
  /// The request cannot be sent as it is. Others can.
  case unsendable(reason: String)
  /// The backend refused the account's token.
  case tokenRefused
  /// The backend does not speak this version of the protocol.
  case otherProtocol(status: Int, reason: String)
  /// The backend refused the request, for good. The status is for support.
  case refused(status: Int)
}

extension SyncError {
  /// The failure as the caller gets it who wants an order of this account.
  init(_ failure: OrderFailure, account: String) {
    switch failure {
    case .unreachable(let reason), .unsendable(let reason): self = .backendUnreachable(reason: reason)
    case .tokenRefused: self = .signInNeeded(account: account)
    case .otherProtocol(let status, _), .refused(let status):
      self = .backendRefused(status: status, reason: "an order was not made")
    }
  }
}

/// The backend as the app passes it.
enum AppBackend: Sendable {
  /// It speaks the project's protocol, over this transport.
  case transport(any BackendTransport)
  /// It has a protocol of its own.
  case own(any PurchaseBackend)

  func port(_ configuration: SyncConfiguration, _ lateCalls: LateCalls) -> any BackendPort {
    switch self {
    case .transport(let transport): HTTPBackend(transport, configuration, lateCalls)
    case .own(let backend): TypedBackend(backend, configuration, lateCalls)
    }
  }
}

/// Everything outside that an engine speaks to.
struct EnginePorts: Sendable {
  let store: any StoreClient
  let backend: any BackendPort
  let credentials: CredentialSource
}
