/// Entries that are delivered in order. Lanes do not block each other.
public enum Lane: Hashable, Sendable {
  /// Entries that belong to nobody yet: they go up in the name of the device.
  case device
  /// The entries of one account.
  case account(String)

  /// As it stands in the file: `device` or `account:` and the account.
  public var text: String {
    switch self {
    case .device: "device"
    case .account(let account): "account:" + account
    }
  }

  /// From the text in the file; anything without the prefix is the device's.
  public init(text: String) {
    let prefix = "account:"
    self = text.hasPrefix(prefix) ? .account(String(text.dropFirst(prefix.count))) : .device
  }
}
