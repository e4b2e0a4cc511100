/// Tells whether an answer comes from the app's backend. An app can bring its own.
///
/// TLS protects an answer on its way. A verifier also protects against whom TLS trusts: a company's proxy, a
/// certificate that the user was talked into, a host name that was taken over. Use an asymmetric signature, such as
/// `Ed25519ReplyVerifier` on Apple's systems: a shared secret in an app is known to every reader of the app.
public protocol ReplyVerifier: Sendable {
  /// Whether `signature` is the backend's signature of `message`.
  ///
  /// Called on any thread for each successful answer, and has to return quickly.
  ///
  /// - Parameters:
  ///   - signature: The value of the header field ``ReplySignature/field``, as the backend sent it. It can also name
  ///     a key.
  ///   - message: The signed bytes, see ``ReplySignature/message(method:target:nonce:authorization:body:status:reply:)``.
  func isGenuine(_ signature: String, of message: [UInt8]) -> Bool
}

/// What a backend signs, and where it sends the signature.
public enum ReplySignature {
  /// The header field of an answer with the signature.
  public static let field = "Purchase-Sync-Signature"
  /// The header field of a request with a text that no other request has.
  public static let nonceField = "Purchase-Sync-Nonce"
  /// The first part of each message: a signature of another protocol never fits.
  public static let purpose = "purchase-sync-reply-1"

  /// The bytes that a backend signs with its answer to a request.
  ///
  /// They hold the answer and the request, so an answer to another request does not fit, also not one to the same
  /// claim at an earlier time: each request has a nonce of its own. The parts in the order of the parameters follow
  /// ``purpose``. Each part is written as its length in bytes (decimal digits), a colon, and its bytes; all are UTF-8.
  ///
  /// - Parameters:
  ///   - method: The request's method, such as `POST`.
  ///   - target: The request's path from `v1/` on with its query, as it was sent, such as `v1/orders?state=open`.
  ///   - nonce: The request's ``nonceField``.
  ///   - authorization: The request's `Authorization`: in whose name it was sent.
  ///   - body: The request's body; empty for GET.
  ///   - status: The answer's HTTP status, in decimal digits.
  ///   - reply: The answer's body, before any content coding.
  public static func message(
    method: String, target: String, nonce: String, authorization: String, body: some Sequence<UInt8>,
    status: Int, reply: some Sequence<UInt8>
  ) -> [UInt8] {
    var message: [UInt8] = []
    func add(_ part: [UInt8]) { message += Array("\(part.count):".utf8) + part }
    for text in [purpose, method, target, nonce, authorization] { add(Array(text.utf8)) }
    add(Array(body))
    add(Array(String(status).utf8))
    add(Array(reply))
    return message
  }
}
