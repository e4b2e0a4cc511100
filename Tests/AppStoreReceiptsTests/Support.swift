import AppStoreReceipts
import Foundation
import Testing

/// The error that `body` throws, or nil. Any other error fails the test.
func decodingFailure(_ body: () throws -> Void) -> ReceiptDecodingError? {
  do {
    try body()
    return nil
  } catch let error as ReceiptDecodingError {
    return error
  } catch {
    Issue.record(error, "not a ReceiptDecodingError")
    return nil
  }
}

/// A compact JWS around a payload, with an invalid signature.
func jws(payload: String) -> String {
  [#"{"alg":"ES256","x5c":[]}"#, payload, "signature"].map(base64URL).joined(separator: ".")
}

/// A second implementation, so that the tests do not check the module against itself.
func base64URL(_ text: String) -> String {
  Data(text.utf8).base64EncodedString()
    .replacingOccurrences(of: "+", with: "-")
    .replacingOccurrences(of: "/", with: "_")
    .replacingOccurrences(of: "=", with: "")
}
