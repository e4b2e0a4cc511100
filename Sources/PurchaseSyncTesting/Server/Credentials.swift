import Foundation
import LoopbackHTTP
import PurchaseSync

/// The valid credentials. `token-<account>` is valid for every account until it is revoked.
struct Credentials: Sendable {
  /// Further tokens, with their accounts.
  var tokens: [String: String]
  var revoked: Set<String> = []
  /// Deleted accounts, with the status that refuses their credentials.
  var deleted: [String: Int] = [:]

  /// Whose credential it is, and the secret of a device.
  enum Sender {
    case account(String)
    case device(UUID, secret: String)

    var uploader: Uploader {
      switch self {
      case .account(let account): .account(account)
      case .device(let device, _): .device(device)
      }
    }
  }

  func sender(of request: HTTPRequest) throws -> Sender {
    guard let header = request.headers["Authorization"] else {
      throw HTTPProblem.unauthorized("the Authorization header is missing")
    }
    return try sender(header)
  }

  private func sender(_ header: String) throws -> Sender {
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
      let parts = value.split(separator: ":", maxSplits: 1)
      guard parts.count == 2, let device = UUID(uuidString: String(parts[0])) else {
        throw HTTPProblem.unauthorized("the device is no UUID with a secret")
      }
      return .device(device, secret: String(parts[1]))
    default:
      throw HTTPProblem.unauthorized("the scheme has to be Bearer or Device")
    }
  }

  func account(of request: HTTPRequest) throws -> String {
    guard case .account(let account) = try sender(of: request) else {
      throw HTTPProblem.unauthorized("this needs an account, not a device")
    }
    return account
  }

  /// The account that is signed in on the device of a request, which has to prove it.
  func signedIn(of request: HTTPRequest) throws -> String {
    guard let header = request.headers[BackendRequest.signedInHeader],
      case .account(let account) = try sender(header)
    else { throw HTTPProblem.unauthorized("the \(BackendRequest.signedInHeader) header names no account") }
    return account
  }

  /// The same for an upload; nil if no account is signed in, or if its token is not valid any more. The device's upload
  /// does not depend on it.
  func signedInIfAny(of request: HTTPRequest) -> String? {
    do { return try signedIn(of: request) } catch { return nil }
  }

  private func account(token: String) -> String? {
    guard !revoked.contains(token) else { return nil }
    if let account = tokens[token] { return account }
    let prefix = "token-"
    guard token.hasPrefix(prefix), token.count > prefix.count else { return nil }
    return String(token.dropFirst(prefix.count))
  }
}
