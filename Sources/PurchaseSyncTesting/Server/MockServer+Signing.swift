import LoopbackHTTP
import PurchaseSQLite
import PurchaseSync

extension MockServer {
  /// Signs each answer of the backend that needs it (`ReplySignature.isNeeded(status:)`) from now on; nil ends it. Answers
  /// that a fault plan makes up are not signed: they stand for another server.
  public func signReplies(with signature: ChecksumSignature?) {
    mock.withLock { $0.signature = signature }
  }

  /// Adds the signature to an answer.
  static func sign(
    _ response: HTTPResponse, to request: HTTPRequest, with signature: ChecksumSignature?
  ) -> HTTPResponse {
    guard let signature, ReplySignature.isNeeded(status: response.status), request.path.hasPrefix("/v1/"),
      let nonce = request.headers[ReplySignature.nonceField]
    else { return response }
    var signed = response
    signed.headers[ReplySignature.field] = signature.sign(
      ReplySignature.message(
        method: request.method, target: String(request.target.dropFirst()), nonce: nonce,
        fields: ReplySignature.requestFields.map { request.headers[$0] ?? "" }, body: request.body,
        status: response.status, reply: response.body))
    return signed
  }
}
