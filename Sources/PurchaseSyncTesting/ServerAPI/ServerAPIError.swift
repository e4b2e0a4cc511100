import AppStoreReceipts
import LoopbackHTTP
import PurchaseQueue

/// An error of the App Store Server API, with Apple's number and words. The HTTP status is the number's beginning.
struct ServerAPIError: Error, Hashable {
  /// Seven digits, such as 4040010.
  let code: Int
  let message: String
  /// For 4290000: when the next request is accepted.
  var retryAt: Timestamp?

  private init(_ code: Int, _ message: String) { (self.code, self.message) = (code, message) }

  /// The HTTP status.
  var status: Int { code / 10_000 }

  /// `Retry-After` "contains a UNIX time, in milliseconds, that informs you when you can next send a request" (Apple,
  /// Identifying rate limits): neither seconds nor a date, unlike RFC 9110.
  var response: HTTPResponse {
    let body: JSONValue = ["errorCode": .integer(Int64(code)), "errorMessage": .string(message)]
    var response = HTTPResponse(
      status: status, headers: ["Content-Type": "application/json"], body: Array(body.text.utf8))
    response.headers["Retry-After"] = retryAt.map { String($0.milliseconds) }
    return response
  }

  // MARK: 400

  static let badRequest = ServerAPIError(4_000_000, "Bad request.")
  static let invalidLimit = ServerAPIError(4_000_004, "Invalid limit.")
  static let invalidRevision = ServerAPIError(4_000_005, "Invalid request revision.")
  static let invalidTransactionID = ServerAPIError(4_000_006, "Invalid transaction id.")
  static let invalidOriginalTransactionID = ServerAPIError(4_000_008, "Invalid original transaction id.")
  static let invalidExtendByDays = ServerAPIError(4_000_009, "Invalid extend by days value.")
  static let invalidExtendReason = ServerAPIError(4_000_010, "Invalid extend reason code.")
  static let invalidRequestIdentifier = ServerAPIError(4_000_011, "Invalid request identifier.")
  static let startTooEarly = ServerAPIError(4_000_012, "Start date is too far in the past.")
  static let startAfterEnd = ServerAPIError(4_000_013, "End date must be after start date.")
  static let invalidPaginationToken = ServerAPIError(4_000_014, "Invalid pagination token.")
  static let invalidStartDate = ServerAPIError(4_000_015, "Invalid start date.")
  static let invalidEndDate = ServerAPIError(4_000_016, "Invalid end date.")
  static let invalidNotificationType = ServerAPIError(4_000_018, "Invalid notification type or subtype.")
  static let multipleFilters = ServerAPIError(4_000_019, "Supply either transaction id or notification type.")
  static let invalidTestToken = ServerAPIError(4_000_020, "Invalid test notification token.")
  static let invalidSort = ServerAPIError(4_000_021, "Invalid sort parameter.")
  static let invalidProductType = ServerAPIError(4_000_022, "Invalid product type parameter.")
  static let invalidProductID = ServerAPIError(4_000_023, "Invalid product id parameter.")
  static let invalidGroup = ServerAPIError(4_000_024, "Invalid subscription group identifier parameter.")
  static let invalidExcludeRevoked = ServerAPIError(4_000_025, "Invalid exclude revoked parameter.")
  static let invalidOwnership = ServerAPIError(4_000_026, "Invalid in app ownership type parameter.")
  static let emptyStorefronts = ServerAPIError(4_000_027, "The list of storefront country codes is empty.")
  static let invalidStorefront = ServerAPIError(4_000_028, "Invalid storefront country code.")
  static let invalidRevoked = ServerAPIError(4_000_030, "Invalid revoked parameter.")
  static let invalidStatus = ServerAPIError(4_000_031, "Invalid status parameter.")
  static let invalidAccountTenure = ServerAPIError(4_000_032, "Invalid account tenure field.")
  static let invalidAppAccountToken = ServerAPIError(4_000_033, "Invalid app account token field.")
  static let invalidConsumptionStatus = ServerAPIError(4_000_034, "Invalid consumption status field.")
  static let invalidCustomerConsented = ServerAPIError(4_000_035, "Invalid customer consented field.")
  static let invalidDeliveryStatus = ServerAPIError(4_000_036, "Invalid delivery status field.")
  static let invalidDollarsPurchased = ServerAPIError(4_000_037, "Invalid lifetime dollars purchased field.")
  static let invalidDollarsRefunded = ServerAPIError(4_000_038, "Invalid lifetime dollars refunded field.")
  static let invalidPlatform = ServerAPIError(4_000_039, "Invalid platform field.")
  static let invalidPlayTime = ServerAPIError(4_000_040, "Invalid play time field.")
  static let invalidSampleContent = ServerAPIError(4_000_041, "Invalid sample content provided field.")
  static let invalidUserStatus = ServerAPIError(4_000_042, "Invalid user status field.")
  static let typeNotSupported = ServerAPIError(4_000_047, "The transaction's product type is not supported.")
  static let appTransactionIDNotSupported = ServerAPIError(
    4_000_048, "Invalid request. App transaction id is not supported by this endpoint.")
  static let tokenIsNoUUID = ServerAPIError(
    4_000_183, "Invalid request. The app account token field must be a valid UUID.")
  static let familyNotSupported = ServerAPIError(
    4_000_185, "Invalid request. Family shared transactions are not supported by this endpoint.")
  static let idIsNotOriginal = ServerAPIError(
    4_000_187, "Invalid request. The transaction id is not an original transaction id.")

  // MARK: 403, 404, 429

  static let notExtendable = ServerAPIError(
    4_030_004, "Forbidden - subscription state ineligible for extension.")
  static let extendedTooOften = ServerAPIError(
    4_030_005, "Forbidden - subscription has reached maximum extension count.")
  static let familyNotExtendable = ServerAPIError(
    4_030_007, "Forbidden - family shared subscriptions are ineligible for extension.")
  static let originalTransactionNotFound = ServerAPIError(4_040_005, "Original transaction id not found.")
  static let noNotificationURL = ServerAPIError(4_040_007, "No notification URL is configured for the app.")
  static let testNotificationNotFound = ServerAPIError(4_040_008, "Test notification not found.")
  static let extensionNotFound = ServerAPIError(4_040_009, "Status request not found.")
  static let transactionNotFound = ServerAPIError(4_040_010, "Transaction id not found.")
  static let appTransactionNotFound = ServerAPIError(4_040_019, "App transaction does not exist.")

  // What was read of Apple's pages names these three without their numbers.
  static let noHostedGroup = ServerAPIError(
    4_000_000, "Invalid request. The transaction is of no active group with invitations of the app.")
  static let noAvailableSeats = ServerAPIError(4_030_000, "The subscription has no seats available to claim.")
  static let seatClaimNotFound = ServerAPIError(4_040_000, "Seat claim id not found.")

  static func rateLimited(until retryAt: Timestamp) -> ServerAPIError {
    var error = ServerAPIError(4_290_000, "Rate limit exceeded.")
    error.retryAt = retryAt
    return error
  }
}
