/// A sequence of entries that are delivered in order. Lanes do not block each other.
public enum Lane: Hashable, Sendable {
  /// Entries without an account: they are sent in the name of the device.
  case device
  /// The entries of one account.
  case account(String)

  /// The stored form: `device`, or `account:` and the account.
  package var text: String {
    switch self {
    case .device: "device"
    case .account(let account): "account:" + account
    }
  }

  /// From the stored form; text without the prefix is the device lane.
  package init(text: String) {
    let prefix = "account:"
    self = text.hasPrefix(prefix) ? .account(String(text.dropFirst(prefix.count))) : .device
  }
}
