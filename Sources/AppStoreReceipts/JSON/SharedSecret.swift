/// The app's shared secret, which `verifyReceipt` asks for and version 1 of the notifications repeats in
/// clear. Printing, dumping and interpolating it show nothing.
public struct SharedSecret: Sendable, Hashable, CustomStringConvertible, CustomDebugStringConvertible,
  CustomReflectable
{
  /// 32 hexadecimal digits, in general. Not for logs.
  public var value: String

  /// Wraps the secret.
  public init(_ value: String) { self.value = value }

  /// Says only that there is one.
  public var description: String { "a shared secret" }
  /// Says only that there is one.
  public var debugDescription: String { description }
  /// Without children.
  public var customMirror: Mirror { Mirror(self, children: []) }
}
