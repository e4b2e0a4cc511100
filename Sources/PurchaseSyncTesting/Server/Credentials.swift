package import Foundation
package import LoopbackHTTP
import PurchaseSync

/// The valid credentials. `token-<account>` is valid for every account until it is revoked.
package struct Credentials: Sendable {
  /// Further tokens, with their accounts.
  var tokens: [String: String]
  var revoked: Set<String> = []
  /// Deleted accounts, with the status that refuses their credentials.
  var deleted: [String: Int] = [:]

  /// Whose credential it is, and the secret of a device.
  package enum Sender {
    case account(String)
    case device(UUID, secret: String)

    package var uploader: Uploader {
      switch self {
      case .account(let account): .account(account)
      case .device(let device, _): .device(device)
      }
    }
  }

  package func sender(of request: HTTPRequest) throws -> Sender {
    guard let header = try request.only("Authorization") else {
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
      guard parts.count == 2, parts[1].utf8.count <= IDLimits.name,
        let device = UUID(uuidString: String(parts[0]))
      else {
        throw HTTPProblem.unauthorized("the device is no UUID with a secret")
      }
      return .device(device, secret: String(parts[1]))
    default:
      throw HTTPProblem.unauthorized("the scheme has to be Bearer or Device")
    }
  }

  package func account(of request: HTTPRequest) throws -> String {
    guard case .account(let account) = try sender(of: request) else {
      throw HTTPProblem.unauthorized("this needs an account, not a device")
    }
    return account
  }

  /// The account that is signed in on the device of a request, which has to prove it.
  package func signedIn(of request: HTTPRequest) throws -> String {
    guard let header = try request.only(BackendRequest.signedInHeader),
      case .account(let account) = try sender(header)
    else { throw HTTPProblem.unauthorized("the \(BackendRequest.signedInHeader) header names no account") }
    return account
  }

  /// The same for an upload; nil if no account is signed in. A refused token is reported to the device, which asks for
  /// a newer one: without the account, it would learn for good that the account's purchases are another's.
  package func signedInIfAny(of request: HTTPRequest) throws -> String? {
    guard try request.only(BackendRequest.signedInHeader) != nil else { return nil }
    do {
      return try signedIn(of: request)
    } catch {
      throw HTTPProblem(
        status: 403, type: ProblemDocument.account, title: "The account's credential is refused",
        detail: "send it without \(BackendRequest.signedInHeader), or with a newer one")
    }
  }

  /// The device's name and secret next to an account's credential; nil without them, or if they are malformed.
  func device(of request: HTTPRequest) -> Sender? {
    guard let header = request.headers[BackendRequest.deviceHeader] else { return nil }
    do {
      let sender = try sender(header)
      if case .device = sender { return sender }
      return nil
    } catch {
      return nil  // The upload of an account does not depend on its device.
    }
  }

  private func account(token: String) -> String? {
    guard !revoked.contains(token) else { return nil }
    if let account = tokens[token] { return account }
    let prefix = "token-"
    guard token.hasPrefix(prefix), token.count > prefix.count,
      token.utf8.count <= prefix.count + IDLimits.name
    else { return nil }
    return String(token.dropFirst(prefix.count))
  }
}

extension HTTPRequest {
  /// The value of a header; nil without one. Throws 400 for several: a proxy and this server could believe different ones.
  func only(_ name: String) throws -> String? {
    let values = headers.values(of: name)
    guard values.count <= 1 else {
      throw HTTPProblem.malformed("there is more than one \(name) header")
    }
    return values.first
  }
}
