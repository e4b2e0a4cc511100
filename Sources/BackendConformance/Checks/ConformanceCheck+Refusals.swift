import AppStoreReceipts
import Foundation
import PurchaseSync
import PurchaseSyncTesting

extension ConformanceCheck {
  private static func orders(_ status: Int) -> ConformanceSource { .openAPI("POST", "/v1/orders", status) }
  private static func receipts(_ status: Int) -> ConformanceSource {
    .openAPI("POST", "/v1/receipts", status)
  }

  /// Requests that a backend refuses, and the form of the refusal.
  static let refusals: [ConformanceCheck] = [
    ConformanceCheck(
      "auth-missing", "without credentials: 401, and a problem document", orders(401), needs: []
    ) { lab in
      for (method, path) in [
        ("GET", "v1/orders"), ("GET", "v1/entitlements"), ("POST", "v1/receipts"), ("POST", "v1/orders"),
        ("POST", "v1/adoptions"),
      ] {
        let reply = try await lab.send(method, path, as: .anonymous, json: method == "POST" ? [:] : nil)
        try expect(reply.status == 401, "401")
        try problem(reply)
      }
    },
    ConformanceCheck(
      "auth-wrong", "with a wrong token: 401 of type auth", .openAPI("GET", "/v1/entitlements", 401),
      needs: []
    ) { lab in
      let reply = try await lab.send("GET", "v1/entitlements", as: .token(lab.unique("wrong")))
      try expect(reply.status == 401 || reply.status == 403, "401")
      if reply.size > 0 { try expect(reply.json?["type"]?.string == "auth", "the type auth") }
    },
    ConformanceCheck("malformed", "invalid JSON and wrong types are answered 4xx", orders(400), needs: []) {
      lab in
      let key = ["Idempotency-Key": await lab.unique("key")]
      for body in [
        "{", "null", "[]", "{}", #"{"productID":7,"quantity":1}"#, #"{"productID":"x","quantity":"many"}"#,
        #"{"productID":"x","quantity":0}"#, #"{"productID":"x","quantity":1e400}"#,
      ] {
        let reply = try await lab.send("POST", "v1/orders", headers: key, body: Data(body.utf8))
        try expect(reply.isRefusal, "a 4xx")
        try problem(reply)
      }
    },
    ConformanceCheck(
      "upload-malformed", "an upload without claims, or with too many, is a 4xx", receipts(422), needs: []
    ) { lab in
      let paid = ConformanceLab.Paid(transactionID: "1", productID: "x", jws: "a.b.c")
      for count in [0, 101] {
        let claims = Array(repeating: ConformanceLab.claim(paid), count: count)
        let reply = try await lab.upload(claims, proof: ConformanceLab.signed(paid))
        try expect(reply.isRefusal, "a 4xx")
        try problem(reply)
      }
    },
    ConformanceCheck(
      "no-such-proof", "a claim that names a proof beyond the list is a 4xx", receipts(422), needs: []
    ) { lab in
      let paid = ConformanceLab.Paid(transactionID: "1", productID: "x", jws: "a.b.c")
      for index in [1, -1] as [JSONValue] {
        let claim = ConformanceLab.with(ConformanceLab.claim(paid), "proof", index)
        let reply = try await lab.upload([claim], proofs: [ConformanceLab.signed(paid)])
        try expect(reply.isRefusal, "a 4xx")
        try problem(reply)
      }
    },
    ConformanceCheck(
      "protocol-version", "an unknown version of the protocol is a 4xx of the type protocol", orders(426),
      needs: []
    ) { lab in
      let reply = try await lab.send("GET", "v1/orders", headers: [WireProtocol.versionField: "999999"])
      try expect(reply.isRefusal, "a 4xx")
      try expect(reply.json?["type"]?.string == ProblemDocument.protocolVersion, "the type protocol")
      let known = try await lab.send(
        "GET", "v1/orders", headers: [WireProtocol.versionField: "1", WireProtocol.clientField: "check/1"])
      try expect(known.status == 200, "200 for version 1")
    },
    ConformanceCheck("too-large", "more than 16 MiB is refused", receipts(413), needs: []) { lab in
      let body = Data(repeating: 0x20, count: 16 << 20 | 1)
      let reply = try await lab.patiently { try await lab.send("POST", "v1/receipts", body: body) }
      try expect(reply.status == 413, "413")
    },
    ConformanceCheck(
      "large", "a body of a few MiB is read, and answered without a 5xx", receipts(200), needs: []
    ) { lab in
      let paid = ConformanceLab.Paid(transactionID: "1", productID: "x", jws: "")
      let proof: JSONValue = [
        "kind": "appReceipt", "data": .string(String(repeating: "QUJD", count: 700_000)),
      ]
      let reply = try await lab.upload([ConformanceLab.claim(paid)], proof: proof)
      let word = try await lab.verdict(reply, about: paid.transactionID)
      try expect(!["granted", "duplicate"].contains(word), "no grant")
    },
    ConformanceCheck(
      "unknown-path", "unknown paths are 404, wrong methods 405", .yourBackend("The HTTP protocol"), needs: []
    ) { lab in
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

extension ConformanceLab {
  /// Sends a request up to five times, until an answer comes. A server may close the connection while it is still
  /// being sent a body that it refuses (RFC 9110 10.1.1), and the answer can get lost then.
  func patiently(_ send: @Sendable () async throws -> Reply) async throws -> Reply {
    for _ in 0..<4 {
      do {
        return try await send()
      } catch let failure as ConformanceFailure where failure.busyStatus == nil {
        try await site.pause(.milliseconds(200))
      }
    }
    return try await send()
  }
}
