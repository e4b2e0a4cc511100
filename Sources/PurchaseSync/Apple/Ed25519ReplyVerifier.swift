#if canImport(CryptoKit)
  import CryptoKit
  public import Foundation

  /// Verifies answers that the backend signs with Ed25519. The signature is in base64.
  public struct Ed25519ReplyVerifier: ReplyVerifier {
    private let keys: [Curve25519.Signing.PublicKey]

    /// - Parameter publicKeys: Keys of 32 bytes each. A signature by any of them is accepted, so a backend can change
    ///   its key: ship an app that knows the next one first.
    /// - Throws: `SyncError` without a key, because nothing would ever be believed; CryptoKit's error for a key of another
    ///   length.
    public init(publicKeys: [Data]) throws {
      guard !publicKeys.isEmpty else { throw SyncError.encoding(what: "a verifier without a key") }
      keys = try publicKeys.map { try Curve25519.Signing.PublicKey(rawRepresentation: $0) }
    }

    /// Whether one of the keys made the signature.
    public func isGenuine(_ signature: String, of message: [UInt8]) -> Bool {
      guard let bytes = Data(base64Encoded: signature) else { return false }
      return keys.contains { $0.isValidSignature(bytes, for: Data(message)) }
    }
  }
#endif
