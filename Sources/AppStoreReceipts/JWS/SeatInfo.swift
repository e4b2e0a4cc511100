/// The seats of a transaction that bought several of one subscription: `multiSeatInfo` (StoreFacts c.2, since 1.23).
///
/// The transaction's `quantity` is the number of its seats, and its `price` the average of one of them. Several
/// transactions can pay for one period: add what each of them holds (``SignedTransaction/seats``).
public struct SeatInfo: Sendable, Hashable {
  /// `invitationManagement`: who invites the members.
  public var invitations: InvitationManagement?
  /// `priceTiers`: how many seats were bought at which price. In no certain order.
  public var priceTiers: [SeatPriceTier]
  /// `revokedSeatQuantity`: how many of the seats were refunded. Nil for none. The transaction stays valid: nothing ends for
  /// who has paid. Only the purchaser's transaction has it.
  public var revokedSeats: Int?
  /// Fields that this module does not know.
  public var unknownFields: [String: JSONValue]

  init(_ input: JSONFields) throws(ReceiptDecodingError) {
    var fields = input
    fields.optional = ["invitationManagement", "priceTiers"]
    invitations = try fields.word("invitationManagement", as: InvitationManagement.self)
    priceTiers = try fields.objects("priceTiers", SeatPriceTier.init)
    revokedSeats = try fields.quantity("revokedSeatQuantity")
    unknownFields = try fields.unknown()
  }
}

/// How many seats have one price: a lower one, the more seats there are (StoreFacts c.2).
public struct SeatPriceTier: Sendable, Hashable {
  /// `price` of one seat, thousandths of the transaction's currency.
  public var price: Int64?
  /// `quantity`: the seats at this price.
  public var seats: Int?
  /// Fields that this module does not know.
  public var unknownFields: [String: JSONValue]

  package init(_ input: JSONFields) throws(ReceiptDecodingError) {
    var fields = input
    fields.optional = ["price", "quantity"]
    price = try fields.integer("price")
    seats = try fields.quantity("quantity")
    unknownFields = try fields.unknown()
  }
}

/// Who invites the members of a subscription with seats (StoreFacts c.2, `invitationManagement`). An open set.
public struct InvitationManagement: RawRepresentable, Hashable, Sendable, Codable {
  /// The store's word.
  public var rawValue: String

  /// Any value, known or not.
  public init(rawValue: String) { self.rawValue = rawValue }

  /// The store does: each member gets a transaction of their own, with the ownership `ASSIGNED`.
  public static let apple = InvitationManagement(rawValue: "APPLE")
  /// The app does: members get no transaction, and the backend claims a seat for each.
  public static let developer = InvitationManagement(rawValue: "DEVELOPER")
}

/// Why several transactions pay for one period (StoreFacts c.2, `additionalTransactionReason`). An open set.
public struct AdditionalTransactionReason: RawRepresentable, Hashable, Sendable, Codable {
  /// The store's word.
  public var rawValue: String

  /// Any value, known or not.
  public init(rawValue: String) { self.rawValue = rawValue }

  /// Seats were added within the period. All transactions of the period have the word, the first one too: it does not say
  /// which of them added seats.
  public static let seatAddition = AdditionalTransactionReason(rawValue: "SEAT_ADDITION")
}

extension OwnershipType {
  /// Whether another person has paid: a family member, or the purchaser of a seat. Then the account token of a transaction
  /// is none of this customer's.
  public var isOfAnotherPayer: Bool { self == .familyShared || self == .assigned }
}

extension SignedTransaction {
  /// How many units it gives its customer, before any refund of its price: the quantity, without the seats that were
  /// refunded; of an assigned seat one, because its quantity is that of the purchaser.
  public var seats: Int {
    ownership == .assigned ? min(1, quantity) : max(0, quantity - (multiSeatInfo?.revokedSeats ?? 0))
  }
}
