public import PurchaseSync

/// Signs the mock backend's answers, and verifies them in the app under test.
///
/// **Not cryptography.** Signer and verifier share a key, and every reader of this file can forge a signature. It shows
/// an answer that was made by another server, and one that belongs to another request.
public struct ChecksumSignature: ReplyVerifier {
  private let key: UInt64

  /// A signature with this key.
  public init(key: UInt64) { self.key = key }

  /// The signature of a message, in hexadecimal digits.
  public func sign(_ message: [UInt8]) -> String {
    KeyedChecksum.bytes(of: message, key: key).map { byte in
      let digits = String(byte, radix: 16)
      return digits.count == 1 ? "0" + digits : digits
    }
    .joined()
  }

  /// Whether this key made the signature.
  public func isGenuine(_ signature: String, of message: [UInt8]) -> Bool { sign(message) == signature }
}
