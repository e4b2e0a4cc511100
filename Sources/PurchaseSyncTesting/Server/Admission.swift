import Foundation
import LoopbackHTTP
import PurchaseSync

/// What the mock server reads of a request, decided from its head: the bodies of callers that it does not know are short.
extension MockState {
  /// What anyone may send. A longer body without credentials, or for a path that is none, is refused unread.
  static let strangersBytes = 64 << 10
  /// The most that a body of the store's and the admin's routes may have.
  private static let requestBytes = 1 << 20
  /// The most that a notification or a question of a backend may have: a receipt of 3 MiB with its JSON.
  private static let receiptBytes = 4 << 20
  private static let uploadBytes = 16 << 20

  /// What to read of a request with a body.
  func admission(of head: HTTPRequest) -> HTTPAdmission {
    if services[head.path] != nil { return .read(upTo: Self.uploadBytes) }
    do {
      return try .read(upTo: bodyBytes(of: head))
    } catch {
      // A short body is read all the same, so that the connection can go on, and its route refuses it.
      return .readOrRefuse(upTo: Self.strangersBytes, HTTPProblem(error).response)
    }
  }

  private func bodyBytes(of head: HTTPRequest) throws -> Int {
    _ = try Self.find(head)
    try checkOrigin(of: head)
    switch head.path {
    case Self.uploadPath:
      _ = try credentials.sender(of: head)
      return Self.uploadBytes
    case Self.notificationPath, "/verifyReceipt", "/sandbox/verifyReceipt": return Self.receiptBytes
    case let path where path.hasPrefix("/v1/"):
      _ = try credentials.sender(of: head)
      return Self.requestBytes
    default: return Self.requestBytes
    }
  }
}

/// A page in a browser must not move the clock or pay: the routes without credentials answer no request of another site.
extension MockState {
  /// Throws for a request that a page of another site can make.
  ///
  /// - A request with an `Origin` that is not this server: browsers name the page's.
  /// - A `Host` that is not this machine, if only this machine reaches the server: a name that a page's owner points to
  ///   127.0.0.1 (DNS rebinding). The backend's routes too: the tokens of the mock's accounts can be guessed.
  /// - A change whose body is not `application/json`: only such a request makes a browser ask first.
  func checkOrigin(of request: HTTPRequest) throws {
    let host = request.headers["Host"]
    if isLoopback, Self.isForThisMachine(request.path), let host, !Self.isThisMachine(host) {
      throw HTTPProblem.crossSite("the Host is not this machine; use 127.0.0.1 or localhost")
    }
    guard Self.isUnguarded(request.path) else { return }
    if let origin = try request.only("Origin"), origin != "http://" + (host ?? "") {
      throw HTTPProblem.crossSite("the Origin is not this server")
    }
    guard request.method == "POST" || request.method == "PUT" else { return }
    let type = request.headers["Content-Type"]?.split(separator: ";").first
      .map { $0.trimmingCharacters(in: .whitespaces).lowercased() }
    guard type == "application/json" else {
      throw HTTPProblem(
        status: 415, type: "content-type", title: "Another type of content",
        detail: "send Content-Type: application/json; with curl, --json in place of -d")
    }
  }

  /// The routes that ask for no credentials and no signature. A question about a certificate changes nothing, and is no
  /// JSON.
  private static func isUnguarded(_ path: String) -> Bool {
    path.hasPrefix("/admin/") || path.hasPrefix("/store/") && path != "/store/ocsp"
  }

  /// The routes of apps on this machine, and of the person in front of it. A store's or a backend's server may come by
  /// another name, such as a container's, and signs what it sends.
  private static func isForThisMachine(_ path: String) -> Bool {
    isUnguarded(path) || path.hasPrefix("/v1/") && path != notificationPath
  }

  private static func isThisMachine(_ host: String) -> Bool {
    let name = host.hasPrefix("[") ? host.prefix { $0 != "]" } + "]" : host.prefix { $0 != ":" }
    return name == "localhost" || name == "[::1]" || isLoopbackAddress(name)
  }

  private static func isLoopbackAddress(_ name: Substring) -> Bool {
    let parts = name.split(separator: ".", omittingEmptySubsequences: false)
    return parts.count == 4 && parts[0] == "127" && parts.allSatisfy { UInt8($0) != nil }
  }
}

extension HTTPProblem {
  fileprivate static func crossSite(_ detail: String) -> HTTPProblem {
    HTTPProblem(status: 403, type: "cross-site", title: "A request of another site", detail: detail)
  }
}
