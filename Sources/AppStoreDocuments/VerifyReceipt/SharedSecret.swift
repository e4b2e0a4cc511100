import AppStoreReceipts

/// The app's shared secret. `verifyReceipt` requires it, and version 1 of the notifications repeats it in
/// clear text. Printing, dumping and interpolating it show nothing.
public struct SharedSecret: Sendable, Hashable, CustomStringConvertible, CustomDebugStringConvertible,
  CustomReflectable
{
  /// Usually 32 hexadecimal digits. Do not log it.
  public var value: String

  /// Wraps the secret.
  public init(_ value: String) { self.value = value }

  /// A fixed text without the secret.
  public var description: String { "a shared secret" }
  /// A fixed text without the secret.
  public var debugDescription: String { description }
  /// A mirror without children.
  public var customMirror: Mirror { Mirror(self, children: []) }
}
