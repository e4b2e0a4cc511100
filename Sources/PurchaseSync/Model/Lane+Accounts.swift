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

  private static var accountPrefix: String { "account:" }
}
