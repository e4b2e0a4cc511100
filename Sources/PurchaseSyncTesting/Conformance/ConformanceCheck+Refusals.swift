import AppStoreReceipts
import Foundation
import PurchaseSync

extension ConformanceCheck {
  /// Requests that a backend refuses, and the form of the refusal.
  static let refusals = [
    ConformanceCheck(name: "auth-missing", promise: "without credentials: 401, and a problem document") {
      lab in
      for (method, path) in [
        ("GET", "v1/orders"), ("GET", "v1/entitlements"), ("POST", "v1/receipts"), ("POST", "v1/orders"),
        ("POST", "v1/adoptions"),
      ] {
        let reply = try await lab.send(method, path, as: .anonymous, json: method == "POST" ? [:] : nil)
        try expect(reply.status == 401, "401")
        try problem(reply)
      }
    },
    ConformanceCheck(name: "auth-wrong", promise: "with a wrong token: 401 of type auth") { lab in
      let reply = try await lab.send("GET", "v1/entitlements", as: .token(lab.unique("wrong")))
      try expect(reply.status == 401 || reply.status == 403, "401")
      if reply.size > 0 { try expect(reply.json?["type"]?.string == "auth", "the type auth") }
    },
    ConformanceCheck(name: "malformed", promise: "invalid JSON and wrong types are answered 4xx") { lab in
      let key = ["Idempotency-Key": await lab.unique("key")]
      for body in [
        "{", "null", "[]", "{}", #"{"productID":7,"quantity":1}"#, #"{"productID":"x","quantity":"many"}"#,
        #"{"productID":"x","quantity":0}"#, #"{"productID":"x","quantity":1e400}"#,
      ] {
        let reply = try await lab.send("POST", "v1/orders", headers: key, body: Data(body.utf8))
        try expect((400..<500).contains(reply.status), "a 4xx")
        try problem(reply)
      }
    },
    ConformanceCheck(
      name: "upload-malformed", promise: "an upload without claims, or with too many, is a 4xx"
    ) { lab in
      let paid = try await lab.pay(token: nil, storeAccount: lab.unique("apple"))
      for count in [0, 101] {
        let claims = Array(repeating: ConformanceLab.claim(paid), count: count)
        let reply = try await lab.upload(claims, proof: ConformanceLab.signed(paid))
        try expect((400..<500).contains(reply.status), "a 4xx")
        try problem(reply)
      }
    },
    ConformanceCheck(name: "no-such-proof", promise: "a claim that names a proof beyond the list is a 4xx") {
      lab in
      let paid = try await lab.pay(token: nil, storeAccount: lab.unique("apple"))
      for index in [1, -1] as [Int64] {
        let claim = ConformanceLab.claim(ConformanceLab.claim(paid), on: index)
        let reply = try await lab.upload([claim], proofs: [ConformanceLab.signed(paid)])
        try expect((400..<500).contains(reply.status), "a 4xx")
        try problem(reply)
      }
    },
    ConformanceCheck(
      name: "protocol-version", promise: "an unknown version of the protocol is a 4xx of the type protocol"
    ) { lab in
      let reply = try await lab.send(
        "GET", "v1/orders", headers: [WireProtocol.versionField: "999999"])
      try expect((400..<500).contains(reply.status), "a 4xx")
      try expect(reply.json?["type"]?.string == ProblemDocument.protocolVersion, "the type protocol")
      let known = try await lab.send(
        "GET", "v1/orders", headers: [WireProtocol.versionField: "1", WireProtocol.clientField: "check/1"])
      try expect(known.status == 200, "200 for version 1")
    },
    ConformanceCheck(name: "too-large", promise: "more than 16 MiB is refused") { lab in
      let body = Data(repeating: 0x20, count: 16 << 20 | 1)
      let reply = try await lab.send("POST", "v1/receipts", body: body)
      try expect(reply.status == 413, "413")
    },
    ConformanceCheck(name: "unknown-path", promise: "unknown paths are 404, wrong methods 405") { lab in
      let path = try await lab.send("GET", "v1/\(await lab.unique("nothing"))")
      try expect(path.status == 404, "404")
      try problem(path)
      let method = try await lab.send("DELETE", "v1/receipts")
      try expect(method.status == 405 || method.status == 404, "405")
    },
  ]

  /// RFC 9457.
  private static func problem(_ reply: ConformanceLab.Reply) throws {
    let type = reply.contentType?.split(separator: ";").first.map(String.init) ?? ""
    try expect(type == "application/problem+json", "the type application/problem+json")
    // Foundation on Linux does not hand out the body of a 401.
    if reply.status == 401, reply.size == 0 { return }
    try expect(reply.json?["type"]?.string != nil && reply.json?["title"]?.string != nil, "type and title")
  }
}
