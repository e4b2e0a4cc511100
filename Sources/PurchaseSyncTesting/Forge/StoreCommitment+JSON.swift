import AppStoreReceipts
import PurchaseQueue

extension StoreCommitment {
  /// `commitmentInfo` of a transaction.
  var json: JSONValue {
    var members: [String: JSONValue] = [
      "billingPeriodNumber": .integer(Int64(payment)), "totalBillingPeriods": .integer(Int64(payments)),
      "commitmentExpiresDate": .integer(endsAt.milliseconds),
    ]
    members["commitmentPrice"] = price.map(JSONValue.integer)
    return .object(members)
  }
}

extension ForgedRenewal {
  /// What follows a commitment: the next one, with its own price, unless the customer has turned it off.
  struct Commitment: Sendable, Hashable {
    var endsAt: Timestamp
    var productID: String
    var willRenew: Bool
    var price: Int64?

    /// `commitmentInfo` of a renewal info.
    var json: JSONValue {
      var members: [String: JSONValue] = [
        "commitmentAutoRenewProductId": .string(productID),
        "commitmentAutoRenewStatus": willRenew ? 1 : 0,
        "commitmentRenewalBillingPlanType": .string(BillingPlanType.monthly.rawValue),
        "commitmentRenewalDate": .integer(endsAt.milliseconds),
      ]
      members["commitmentRenewalPrice"] = price.map(JSONValue.integer)
      return .object(members)
    }
  }
}
