import Foundation
import LoopbackHTTP

/// The valid credentials. `token-<account>` is valid for every account until it is revoked.
struct Credentials: Sendable {
  /// Further tokens, with their accounts.
  var tokens: [String: String]
  var revoked: Set<String> = []
  /// Deleted accounts, with the status that refuses their credentials.
  var deleted: [String: Int] = [:]

  func uploader(of request: HTTPRequest) throws -> Uploader {
    guard let header = request.headers["Authorization"] else {
      throw HTTPProblem.unauthorized("the Authorization header is missing")
    }
    let words = header.split(separator: " ", maxSplits: 1)
    guard words.count == 2 else { throw HTTPProblem.unauthorized("the Authorization header is malformed") }
    let value = String(words[1])
    // Schemes are compared without regard to case (RFC 9110 11.1).
    switch words[0].lowercased() {
    case "bearer":
      guard let account = account(token: value) else {
        throw HTTPProblem.unauthorized("the token is not valid")
      }
      if let status = deleted[account] { throw HTTPProblem.deleted(status: status) }
      return .account(account)
    case "device":
      guard let device = UUID(uuidString: value) else {
        throw HTTPProblem.unauthorized("the device is no UUID")
      }
      return .device(device)
    default:
      throw HTTPProblem.unauthorized("the scheme has to be Bearer or Device")
    }
  }

  func account(of request: HTTPRequest) throws -> String {
    guard case .account(let account) = try uploader(of: request) else {
      throw HTTPProblem.unauthorized("this needs an account, not a device")
    }
    return account
  }

  private func account(token: String) -> String? {
    guard !revoked.contains(token) else { return nil }
    if let account = tokens[token] { return account }
    let prefix = "token-"
    guard token.hasPrefix(prefix), token.count > prefix.count else { return nil }
    return String(token.dropFirst(prefix.count))
  }
}
