public import Foundation

/// The account or device that uploads, or that owns a credit.
public enum Uploader: Sendable, Hashable, Codable {
  /// A user of the app.
  case account(String)
  /// A device without a user. An account can adopt its grants.
  case device(UUID)

  /// The account; nil for a device. Setting nil changes nothing.
  package var account: String? {
    get { if case .account(let account) = self { account } else { nil } }
    set { if let newValue { self = .account(newValue) } }
  }

  /// The device; nil for an account. Setting nil changes nothing.
  var device: UUID? {
    get { if case .device(let device) = self { device } else { nil } }
    set { if let newValue { self = .device(newValue) } }
  }
}
