import Foundation
import LoopbackHTTP

/// Who may say to be whom. `token-<account>` is good for every account, unless it was revoked.
struct Credentials: Sendable {
  /// Further tokens and their accounts.
  var tokens: [String: String]
  var revoked: Set<String> = []
  /// Accounts that are no more, and the status that their credentials are refused with.
  var deleted: [String: Int] = [:]

  func uploader(of request: HTTPRequest) throws(HTTPProblem) -> Uploader {
    guard let header = request.headers["Authorization"] else {
      throw .unauthorized("the Authorization header is missing")
    }
    let words = header.split(separator: " ", maxSplits: 1)
    guard words.count == 2 else { throw .unauthorized("the Authorization header is malformed") }
    let value = String(words[1])
    // Schemes are compared without regard to case (RFC 9110 11.1).
    switch words[0].lowercased() {
    case "bearer":
      guard let account = account(token: value) else { throw .unauthorized("the token is not valid") }
      if let status = deleted[account] { throw .deleted(status: status) }
      return .account(account)
    case "device":
      guard let device = UUID(uuidString: value) else { throw .unauthorized("the device is no UUID") }
      return .device(device)
    default:
      throw .unauthorized("the scheme has to be Bearer or Device")
    }
  }

  func account(of request: HTTPRequest) throws(HTTPProblem) -> String {
    guard case .account(let account) = try uploader(of: request) else {
      throw .unauthorized("this needs an account, not a device")
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
