public import PurchaseQueue

/// The lanes of a shop: one for each account, and one for the device.
extension Lane {
  /// Entries without an account: they are sent in the name of the device.
  public static let device: Lane = "device"

  /// The entries of one account.
  public static func account(_ account: String) -> Lane { Lane(rawValue: accountPrefix + account) }

  /// The account whose lane it is; nil for the device's.
  public var account: String? { rest(after: Self.accountPrefix) }

  /// Questions of one account about purchases that are settled on this device: whether they are its own. They are sent in
  /// the name of the device, with the credential of the account.
  static func question(of account: String) -> Lane { Lane(rawValue: questionPrefix + account) }

  /// The account that asks; nil for a lane of purchases.
  public var asker: String? { rest(after: Self.questionPrefix) }

  /// By bytes: a name can begin with an accent, which belongs to the letter before it.
  private func rest(after prefix: String) -> String? {
    guard rawValue.utf8.starts(with: prefix.utf8) else { return nil }
    return String(rawValue.utf8.dropFirst(prefix.utf8.count))
  }

  private static var accountPrefix: String { "account:" }
  private static var questionPrefix: String { "device:" }
}

extension String? {
  /// Whether both name one account, or none. Accounts are compared as bytes, as the file compares them.
  func isSameAccount(as other: String?) -> Bool {
    guard let self, let other else { return self == nil && other == nil }
    return self.hasSameBytes(as: other)
  }
}
