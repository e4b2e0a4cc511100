public import Foundation

/// In whose name something is uploaded, and who owns a credit.
public enum Uploader: Sendable, Hashable, Codable {
  /// The app's user.
  case account(String)
  /// A device without a user, whose grants wait to be claimed for an account.
  case device(UUID)
}
