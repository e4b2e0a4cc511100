public import AppStoreReceipts

/// The `status` of `verifyReceipt`. An open set: the store adds new ones (StoreFacts a.2, R1.1).
public struct ReceiptStatus: RawRepresentable, Hashable, Sendable, Codable {
  /// The store's number.
  public var rawValue: Int

  /// Any number, known or not.
  public init(rawValue: Int) { self.rawValue = rawValue }

  /// The receipt is genuine. A subscription in it may have lapsed.
  public static let ok = ReceiptStatus(rawValue: 0)
  /// The request was not an HTTP POST, or not JSON.
  public static let badRequest = ReceiptStatus(rawValue: 21000)
  /// `receipt-data` is malformed or missing, or the service had a temporary problem.
  public static let malformed = ReceiptStatus(rawValue: 21002)
  /// The receipt is not genuine.
  public static let notAuthenticated = ReceiptStatus(rawValue: 21003)
  /// The shared secret does not match.
  public static let wrongSecret = ReceiptStatus(rawValue: 21004)
  /// The service is down.
  public static let unavailable = ReceiptStatus(rawValue: 21005)
  /// The receipt is genuine, but the subscription has lapsed. The answer contains the receipt. Only for old
  /// transaction receipts.
  public static let lapsed = ReceiptStatus(rawValue: 21006)
  /// A sandbox receipt was sent to production.
  public static let sandboxReceipt = ReceiptStatus(rawValue: 21007)
  /// A production receipt was sent to the sandbox.
  public static let productionReceipt = ReceiptStatus(rawValue: 21008)
  /// The service could not read its own data.
  public static let dataAccess = ReceiptStatus(rawValue: 21009)
  /// The store account does not exist, or was deleted.
  public static let accountNotFound = ReceiptStatus(rawValue: 21010)

  /// What the caller should do next.
  public enum Action: Sendable, Hashable {
    /// Read the receipt: it is genuine.
    case ok
    /// Read the receipt: it is genuine, and the paid time is over.
    case lapsed
    /// Ask again later, with growing delays.
    case retry
    /// Ask again a few times. If the answer stays, the receipt is malformed: grant nothing.
    case retryThenRefuse
    /// Send the same request once to the other environment's address. If that one points back, stop.
    case askOtherEnvironment(StoreEnvironment)
    /// The caller's mistake: wrong secret or wrong request. The answer says nothing about the receipt. Repair
    /// the request, then ask again.
    case configuration
    /// The receipt is not genuine. Grant nothing and do not ask again.
    case forged
    /// The store will not answer for this receipt. Grant nothing and do not ask again.
    case refused
    /// A status that this module does not know. Keep the receipt, ask again later, and report it.
    case unknown
  }

  /// The action for the status. Pass the answer's `is_retryable`; it applies to 21100 to 21199 only. Without
  /// it these are worth another try (StoreFacts a.2).
  public func action(isRetryable: Bool? = nil) -> Action {
    switch self {
    case .ok: .ok
    case .lapsed: .lapsed
    case .unavailable, .dataAccess: .retry
    case .malformed: .retryThenRefuse
    case .sandboxReceipt: .askOtherEnvironment(.sandbox)
    case .productionReceipt: .askOtherEnvironment(.production)
    case .badRequest, .wrongSecret: .configuration
    case .notAuthenticated: .forged
    case .accountNotFound: .refused
    default: isInternal ? (isRetryable == false ? .refused : .retry) : .unknown
    }
  }

  /// Whether the answer contains a receipt: status 0 or 21006.
  public var hasReceipt: Bool { self == .ok || self == .lapsed }

  /// Whether this is one of the internal errors, 21100 to 21199.
  package var isInternal: Bool { 21100...21199 ~= rawValue }

  /// One sentence for a log or a support tool.
  package var meaning: String {
    switch self {
    case .ok: "the receipt is genuine"
    case .badRequest: "the store could not read the request: not a POST, or not JSON"
    case .malformed: "the receipt data is malformed or missing, or the service had a temporary problem"
    case .notAuthenticated: "the receipt could not be authenticated"
    case .wrongSecret: "the shared secret does not match the one on file"
    case .unavailable: "the receipt server is temporarily unavailable"
    case .lapsed: "the receipt is genuine and its subscription has lapsed"
    case .sandboxReceipt: "a sandbox receipt was sent to production"
    case .productionReceipt: "a production receipt was sent to the sandbox"
    case .dataAccess: "the store could not access its data"
    case .accountNotFound: "the store account was not found, or was deleted"
    default: isInternal ? "the store had an internal error" : "a status of unknown meaning"
    }
  }
}

extension ReceiptStatus: CustomStringConvertible {
  /// The number and its meaning.
  public var description: String { "\(rawValue): \(meaning)" }
}
