public import PurchaseQueue

/// The lanes of a shop: one for each account, and one for the device.
extension Lane {
  /// Entries without an account: they are sent in the name of the device.
  public static let device: Lane = "device"

  /// The entries of one account.
  public static func account(_ account: String) -> Lane { Lane(rawValue: accountPrefix + account) }

  /// The account whose lane it is; nil for the device's.
  public var account: String? {
    rawValue.hasPrefix(Self.accountPrefix) ? String(rawValue.dropFirst(Self.accountPrefix.count)) : nil
  }

  /// Questions of one account about purchases that are settled on this device: whether they are its own. They are sent in
  /// the name of the device, with the credential of the account.
  static func question(of account: String) -> Lane { Lane(rawValue: questionPrefix + account) }

  /// The account that asks; nil for a lane of purchases.
  public var asker: String? {
    rawValue.hasPrefix(Self.questionPrefix) ? String(rawValue.dropFirst(Self.questionPrefix.count)) : nil
  }

  private static var accountPrefix: String { "account:" }
  private static var questionPrefix: String { "device:" }
}
