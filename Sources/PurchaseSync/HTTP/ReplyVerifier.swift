/// Decides whether an answer comes from the app's backend. An app can bring its own.
///
/// TLS protects an answer on its way. A verifier also protects against whom TLS trusts: a company's proxy, a
/// certificate that the user was talked into, a host name that was taken over. Use an asymmetric signature, such as
/// `Ed25519ReplyVerifier` on Apple's systems: a shared secret in an app is known to every reader of the app.
public protocol ReplyVerifier: Sendable {
  /// Whether `signature` is the backend's signature of `message`.
  ///
  /// Called on any thread for each answer that needs a signature, and has to return quickly.
  ///
  /// - Parameters:
  ///   - signature: The value of the header field ``ReplySignature/field``, as the backend sent it. It can also name
  ///     a key.
  ///   - message: The signed bytes, see ``ReplySignature/message(method:target:nonce:fields:body:status:reply:)``.
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

  /// The header fields of a request that say in whose name it is, and which order it asks for.
  public static let requestFields = [
    "Authorization", "Account-Authorization", "Device-Authorization", "Idempotency-Key",
  ]

  /// Whether an answer of this status has to be signed: a successful one, and a refusal that is final. A gateway in front
  /// of the backend cannot sign its own 503, and 401, 408, 425 and 429 are not final.
  public static func isNeeded(status: Int) -> Bool {
    (200...299).contains(status) || ((400...499).contains(status) && ![401, 408, 425, 429].contains(status))
  }

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
  ///   - fields: The values of the request's ``requestFields``, in that order; an empty text for a field that it does not
  ///     have.
  ///   - body: The request's body; empty for GET.
  ///   - status: The answer's HTTP status, in decimal digits.
  ///   - reply: The answer's body, before any content coding.
  public static func message(
    method: String, target: String, nonce: String, fields: [String], body: some Sequence<UInt8>,
    status: Int, reply: some Sequence<UInt8>
  ) -> [UInt8] {
    var message: [UInt8] = []
    func add(_ part: [UInt8]) { message += Array("\(part.count):".utf8) + part }
    for text in [purpose, method, target, nonce] + fields { add(Array(text.utf8)) }
    add(Array(body))
    add(Array(String(status).utf8))
    add(Array(reply))
    return message
  }
}
