import AppStoreDocuments
import AppStoreReceipts
import CommandLineTools

/// The output of `decode` for people. Ids and products come from the file, so control characters are removed, and long
/// texts are cut.
struct DecodeText {
  let text: String

  init(_ document: StoreDocument, subscriptions: [SubscriptionStatus]) {
    let sections = [
      Self.head(document), Self.transactions(document), Self.subscriptions(subscriptions),
      Self.undecodable(document), Self.unknown(document),
    ]
    text = sections.filter { !$0.isEmpty }.map { $0.joined(separator: "\n") }.joined(separator: "\n\n")
  }

  private static func head(_ document: StoreDocument) -> [String] {
    var rows = [["kind", document.kind.rawValue]]
    if !document.wrappings.isEmpty {
      rows.append(["wrapped in", document.wrappings.map(\.rawValue).joined(separator: ", ")])
    }
    rows.append(["environment", document.environment?.rawValue ?? "-"])
    rows.append(["bundle id", document.bundleID ?? "-"])
    rows += DecodeDetails(document).rows.map { [$0.name, $0.value] }
    return TextTable.lines(rows) + ["decoded, not verified"]
  }

  private static func transactions(_ document: StoreDocument) -> [String] {
    guard !document.transactions.isEmpty else { return ["no transactions"] }
    let head = ["transaction", "original", "product", "quantity", "purchased", "expires", "cancelled"]
    return TextTable.lines(
      [head]
        + document.transactions.map {
          [
            $0.transactionID,
            $0.originalTransactionID == $0.transactionID ? "same" : $0.originalTransactionID,
            $0.productID ?? "-", "\($0.quantity)", date($0.purchaseDate), date($0.expiresDate),
            cancelled($0),
          ]
        })
  }

  private static func subscriptions(_ statuses: [SubscriptionStatus]) -> [String] {
    guard !statuses.isEmpty else { return [] }
    let head = ["subscription", "product", "state", "entitled until", "ended", "next product", "renews"]
    return TextTable.lines(
      [head]
        + statuses.map {
          [
            $0.originalTransactionID, $0.productID, DecodeReport.word($0.state), date($0.entitledUntil),
            date($0.endedAt), $0.nextProductID ?? "-", $0.willAutoRenew.map { $0 ? "yes" : "no" } ?? "-",
          ]
        })
  }

  private static func undecodable(_ document: StoreDocument) -> [String] {
    document.undecodable.map { "inside: " + SafeText.shown($0.description) }
  }

  private static func unknown(_ document: StoreDocument) -> [String] {
    document.unknownMembers.map { member in
      let path = TextTable.cell(member.path)
      guard let home = member.home else { return "unknown, not read: \(path)" }
      guard home.hasPrefix("the top") else {
        return "misplaced, not read: \(path) (the store writes it in \(home))"
      }
      let place = member.path.contains(".") ? "" : " at the top"
      return "misplaced, not read: \(path)\(place) (the store writes it at \(home))"
    }
  }

  /// The date of a refund, and its share if it is a part of the price.
  private static func cancelled(_ transaction: ListedTransaction) -> String {
    guard let share = transaction.revocationPercentage else { return date(transaction.cancellationDate) }
    return date(transaction.cancellationDate) + " (" + DecodeReport.percentage(share) + " refunded)"
  }

  private static func date(_ milliseconds: Int64?) -> String { DecodeReport.utc(milliseconds) ?? "-" }
}
