public import Foundation

/// How a ``ReceiptForge`` signs. See <doc:Signatures>.
public enum ForgeSigning: Sendable, Hashable {
  /// A keyed checksum, which only a forge with the same key accepts. It takes microseconds: for simulations and for tests
  /// in one process, which sign thousands of texts.
  case checksum
  /// As the App Store signs, by certificates under the test root: ES256 with three certificates in the header, and app
  /// receipts with RSA. A signature takes 0.2 ms in a release build and 6 ms in a debug build, an app receipt 2 and 90 ms.
  ///
  /// `responder` is the address that the certificates name for questions whether they are revoked (OCSP); nil for none.
  case certificates(responder: URL? = nil)
}
