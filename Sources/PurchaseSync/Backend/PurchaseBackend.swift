public import AppStoreReceipts
public import Foundation
import PurchaseQueue

/// A backend with a protocol of its own. Only ``verify(_:for:)`` has to be written; then devices make the orders.
///
/// Pass it to ``Shop``, or to ``SyncEngine/open(_:store:backend:credentials:)``. For the project's own protocol, pass a
/// ``URLSessionTransport`` instead.
///
/// Each call may be repeated, also long after the first one has succeeded: its answer can be lost, and the app can be
/// killed before it is stored. Calls of one account come one after another; those of different accounts, and of the
/// device, may overlap.
///
/// Throw ``BackendFailure`` where it says what to do. Every other error means that there was no answer, and the call is
/// repeated with a back-off.
public protocol PurchaseBackend: Sendable {
  /// Whether ``makeOrder(_:idempotencyKey:for:)`` makes orders. By default the device makes them, and the backend is
  /// informed of each with its purchase.
  var makesOrders: Bool { get }

  /// Changes when the backend is restored from a backup: what is settled is then offered to it again. Any text.
  var ledgerEpoch: String { get }

  /// Judges a purchase, and credits it to its owner.
  ///
  /// **Credit each `transactionID` once, however often you are called.** An endpoint that credits again with each call
  /// must not be called from here: put a table of transaction ids before it, in the same database transaction as the
  /// credit.
  ///
  /// A call that takes longer than ``SyncConfiguration/backendTimeLimit`` is left behind, and repeated later. Until one has
  /// returned, other purchases of the account are asked about first.
  ///
  /// If `owner.isBuyer` is false, your records decide: `granted` or `duplicate` if it is the account's, or if you give what
  /// no account has to the one that asks; `belongsToAnother` if another account has it.
  func verify(_ purchase: UploadedPurchase, for owner: BackendCaller) async throws -> BackendVerdict

  /// Makes an order before the payment, or refuses it. The same key is the same order.
  func makeOrder(
    _ wish: OrderRequest, idempotencyKey: String, for account: BackendCaller
  ) async throws -> OrderDocument

  /// An order that the device made, before or after its purchase. Called again with each new state.
  func register(_ order: DeviceOrder, for account: BackendCaller) async throws

  /// An order of the backend's own was cancelled or waits for approval. Called again if the answer is lost.
  func order(_ number: String, became state: OrderState, for account: BackendCaller) async throws

  /// The account's open orders of this backend: after a reinstall, or on a second device.
  func openOrders(of account: BackendCaller) async throws -> [OrderDocument]

  /// The account takes over what was bought on this device before sign-in: all of `device` that no account has.
  func adopt(device: UUID, by account: BackendCaller) async throws
}

extension PurchaseBackend {
  /// False: the device makes them.
  public var makesOrders: Bool { false }
  /// Always the same: a backend that is never restored.
  public var ledgerEpoch: String { "1" }

  /// Refuses: the device makes the orders.
  public func makeOrder(
    _ wish: OrderRequest, idempotencyKey: String, for account: BackendCaller
  ) async throws -> OrderDocument {
    throw BackendFailure.refused(reason: "this backend makes no orders: use OrderPolicy.deviceOnly")
  }

  /// Does nothing: each purchase names its order.
  public func register(_ order: DeviceOrder, for account: BackendCaller) async throws {}
  /// Does nothing.
  public func order(_ number: String, became state: OrderState, for account: BackendCaller) async throws {}
  /// None.
  public func openOrders(of account: BackendCaller) async throws -> [OrderDocument] { [] }

  /// Refuses.
  public func adopt(device: UUID, by account: BackendCaller) async throws {
    throw BackendFailure.refused(reason: "this backend adopts no purchases of devices")
  }
}

/// Who calls a ``PurchaseBackend``.
public struct BackendCaller: Sendable, Hashable, CustomStringConvertible, CustomReflectable {
  /// The account; nil for what was bought before sign-in, while none is signed in.
  public var account: String?
  /// Whether the account is known to have bought. If not, it is the one that is signed in on the device: the purchase was
  /// restored, made before sign-in or outside of the app, or its order is not known here; or the ``UnclaimedPolicy`` is
  /// ``UnclaimedPolicy/signedInAccount``.
  public var isBuyer: Bool
  /// The account's token, as the shop's credentials gave it; for the device its own name and secret. Never log it.
  public var token: String

  /// A caller, for an app's own tests.
  public init(account: String?, isBuyer: Bool = true, token: String) {
    (self.account, self.isBuyer, self.token) = (account, isBuyer, token)
  }

  /// Never the token.
  public var description: String { account ?? "the device" }
  /// Without the token.
  public var customMirror: Mirror { Mirror(self, children: ["account": account as Any]) }
}

/// A purchase that a ``PurchaseBackend`` has to judge.
public struct UploadedPurchase: Sendable {
  /// The store's id of the transaction: credit it once.
  public var transactionID: String
  /// The id of the first transaction of its chain.
  public var originalTransactionID: String?
  /// The store environment: `Production`, `Sandbox` or `Xcode`.
  public var environment: String
  /// The product.
  public var productID: String
  /// How many units.
  public var quantity: Int
  /// The purchase of a bundle, if `productID` is a subscription that is part of one, as the proof says. An order of it names
  /// the bundle; credit each `transactionID` all the same.
  public var bundle: BundlePurchase?
  /// When the store charged.
  public var purchasedAt: Date
  /// The order, if the device is certain of it.
  public var orderNumber: String?
  /// The order itself, if this device made it.
  public var order: DeviceOrder?
  /// Whether a person without an account has paid (`Shop.purchase(_:for: .guest)`). The caller's account is then only the one
  /// that is signed in: **do not give it the purchase** before it has said that it is its own. Until then answer `pending`.
  public var isGuest: Bool
  /// The device, as a public name.
  public var device: UUID
  /// The kind of `proof`; nil with it.
  public var proofKind: ProofKind?
  /// A signed transaction (JWS) as it is, anything else in base64; nil if the device has none any more: ask the store by
  /// transaction id. Never log it.
  public var proof: String?

  init(_ claim: Claim, in upload: UploadRequest) {
    transactionID = claim.transactionID
    originalTransactionID = claim.originalTransactionID
    environment = claim.environment
    productID = claim.productID
    quantity = claim.quantity
    purchasedAt = claim.purchasedAt.date
    orderNumber = claim.orderNumber
    order = claim.order
    isGuest = claim.evidence?.split(separator: ",").contains { $0 == MatchEvidence.guest.rawValue } ?? false
    device = upload.device
    let proof = upload.proof(of: claim)
    (proofKind, self.proof) = (proof?.kind, proof?.data)
    bundle = Self.bundle(in: proof)
  }
}

extension UploadedPurchase {
  private static func bundle(in proof: ProofDocument?) -> BundlePurchase? {
    guard let proof, proof.kind == .signedTransaction else { return nil }
    do throws(ReceiptDecodingError) {
      return try SignedTransaction(jws: proof.data).bundle
    } catch {
      return nil  // The backend gets the proof, and decides.
    }
  }
}

extension UploadedPurchase: CustomStringConvertible, CustomReflectable {
  /// Never the proof.
  public var description: String { "\(environment) \(transactionID), \(productID)" }
  /// As the description.
  public var customMirror: Mirror { Mirror(self, children: ["purchase": description]) }
}

/// What a ``PurchaseBackend`` says of a purchase.
@nonexhaustive
public enum BackendVerdict: Sendable, Hashable {
  /// Credited now.
  case granted
  /// Credited before, to the same owner.
  case duplicate
  /// Genuine, a period of a subscription that is over: nothing to credit.
  case lapsed
  /// Genuine, and refunded or revoked: nothing to credit. If the proof says that a part is refunded, it is that part.
  case refunded
  /// Genuine, and this part of it is refunded: the other units are credited.
  case partlyRefunded(RefundedShare)
  /// Credited to another account.
  case belongsToAnother
  /// Not known yet, such as when the store does not answer. Tried again after this time; nil for the usual one.
  case pending(reason: String, retryAfter: Duration? = nil)
  /// Forged, malformed, or for another app. Kept, and tried again each day: support should look at it.
  case rejected(reason: String)
}

/// Why a call of a ``PurchaseBackend`` failed, where that says what to do.
@nonexhaustive
public enum BackendFailure: Error, Sendable, Hashable {
  /// The account's token is refused: the credentials are asked for another one.
  case tokenRefused
  /// The backend is overloaded, or asks for a pause.
  case busy(retryAfter: Duration? = nil)
  /// The backend refuses the request as it is. An order is then not made; a purchase is tried again slowly, and holds up no
  /// other.
  case refused(reason: String)
}
