package import LoopbackHTTP

extension FaultPlan: Codable {
  private enum CodingKeys: CodingKey { case rules }

  /// Reads `{"rules": [...]}`; refuses unknown faults and unknown keys.
  public init(from decoder: any Decoder) throws {
    let written = try decoder.container(keyedBy: AnyKey.self)
    for key in written.allKeys where CodingKeys(stringValue: key.stringValue) == nil {
      throw DecodingError.dataCorruptedError(
        forKey: key, in: written, debugDescription: "a plan has no such key; its only key is rules")
    }
    self.init(try decoder.container(keyedBy: CodingKeys.self).decode([Rule].self, forKey: .rules))
  }

  /// Writes the rules; changed answers to uploads have no JSON form.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encode(rules, forKey: .rules)
  }
}

extension FaultPlan {
  /// The names of the faults in JSON.
  package enum Word: String, Sendable, CaseIterable {
    case dropBeforeCommit, dropAfterCommit, reset, truncate, stall, delay, dribble, garbage
    case wrongLength, deliverTwice, respond
  }
}

extension FaultPlan.Rule {
  /// A rule from the parts of its JSON form.
  package init(
    path: String, bodyContains: String? = nil, from: Int? = nil, count: Int? = 1, fault word: FaultPlan.Word,
    milliseconds: Int? = nil, status: Int? = nil, retryAfter: Int? = nil, body: String? = nil
  ) {
    var document = Document(path: path, fault: word.rawValue)
    (document.milliseconds, document.status) = (milliseconds, status)
    (document.retryAfter, document.body) = (retryAfter, body)
    self.init(
      path: path, bodyContains: bodyContains, from: from ?? 1, count: count, fault: Fault(word, document))
  }
}

extension FaultPlan.Rule: Codable {
  /// The names of a rule's members in JSON.
  static let members = Set(Document.CodingKeys.allCases.map(\.stringValue))

  package init(from decoder: any Decoder) throws {
    let written = try decoder.container(keyedBy: AnyKey.self)
    // A misspelled key would make a fault that never happens.
    for key in written.allKeys where Document.CodingKeys(stringValue: key.stringValue) == nil {
      throw DecodingError.dataCorruptedError(
        forKey: key, in: written,
        debugDescription: "a rule has no such key; its keys are "
          + Document.CodingKeys.allCases.map(\.stringValue).joined(separator: ", "))
    }
    let document = try Document(from: decoder)
    let container = try decoder.container(keyedBy: Document.CodingKeys.self)
    guard let word = FaultPlan.Word(rawValue: document.fault) else {
      throw DecodingError.dataCorruptedError(
        forKey: .fault, in: container,
        debugDescription: "there is no such fault; known are "
          + FaultPlan.Word.allCases.map(\.rawValue).joined(separator: ", "))
    }
    self.init(
      method: document.method, path: document.path, bodyContains: document.bodyContains,
      from: document.from ?? 1,
      // An absent count is 1; null is all requests that follow.
      count: container.contains(.count) ? document.count : 1, fault: Fault(word, document))
  }

  package func encode(to encoder: any Encoder) throws {
    var document = Document(path: path, fault: fault.word.rawValue)
    (document.method, document.bodyContains) = (method, bodyContains)
    (document.from, document.count) = (from == 1 ? nil : from, count)
    fault.write(to: &document)
    try document.encode(to: encoder)
    if count == nil {
      var container = encoder.container(keyedBy: Document.CodingKeys.self)
      try container.encodeNil(forKey: .count)
    }
  }
}

/// A rule as its JSON has it.
private struct Document: Codable {
  enum CodingKeys: CodingKey, CaseIterable {
    case path, method, bodyContains, from, count, fault, milliseconds, bytes, status, retryAfter, body
  }

  var path: String
  var method: String?
  var bodyContains: String?
  var from: Int?
  var count: Int?
  var fault: String
  var milliseconds: Int?
  var bytes: Int?
  var status: Int?
  var retryAfter: Int?
  var body: String?
}

extension Fault {
  fileprivate init(_ word: FaultPlan.Word, _ document: Document) {
    let (bytes, milliseconds) = (document.bytes, document.milliseconds)
    self =
      switch word {
      case .dropBeforeCommit: .dropBeforeCommit
      case .dropAfterCommit: .dropAfterCommit
      case .reset: .reset
      case .truncate: .truncate(bytes: bytes ?? 0)
      case .stall: .stall(milliseconds: milliseconds ?? 30_000)
      case .delay: .delay(milliseconds: milliseconds ?? 1_000)
      case .dribble: .dribble(bytes: bytes ?? 1, milliseconds: milliseconds ?? 10)
      case .garbage: .garbage(Array((document.body ?? "<html>not the backend</html>").utf8))
      case .wrongLength: .wrongLength(by: bytes ?? 10)
      case .deliverTwice: .deliverTwice
      case .respond:
        .planned(
          status: document.status ?? 503, retryAfter: document.retryAfter.map(String.init),
          body: document.body)
      }
  }

  /// The name of the fault in JSON.
  package var word: FaultPlan.Word {
    switch self {
    case .dropBeforeCommit: .dropBeforeCommit
    case .dropAfterCommit: .dropAfterCommit
    case .reset: .reset
    case .truncate: .truncate
    case .stall: .stall
    case .delay: .delay
    case .dribble: .dribble
    case .garbage: .garbage
    case .wrongLength: .wrongLength
    case .deliverTwice: .deliverTwice
    case .respond: .respond
    }
  }

  fileprivate func write(to document: inout Document) {
    switch self {
    case .dropBeforeCommit, .dropAfterCommit, .reset, .deliverTwice: break
    case .truncate(let bytes), .wrongLength(let bytes): document.bytes = bytes
    case .stall(let milliseconds), .delay(let milliseconds): document.milliseconds = milliseconds
    case .dribble(let bytes, let milliseconds):
      (document.bytes, document.milliseconds) = (bytes, milliseconds)
    case .garbage(let bytes): document.body = String(decoding: bytes, as: UTF8.self)
    case .respond(let response):
      document.status = response.status
      document.retryAfter = response.headers["Retry-After"].flatMap { Int($0) }
      let isProblem = response.headers["Content-Type"] == "application/problem+json"
      if !isProblem { document.body = String(decoding: response.body, as: UTF8.self) }
    }
  }

  /// An answer in place of the handler's: this body, or a problem document.
  package static func planned(status: Int, retryAfter: String? = nil, body: String? = nil) -> Fault {
    var response = HTTPProblem(status: status, type: "planned", title: "Planned fault").response
    if let body {
      response.body = Array(body.utf8)
      let types = ["<": "text/html; charset=utf-8", "{": "application/json"]
      response.headers["Content-Type"] = types[String(body.prefix(1))] ?? "text/plain"
    }
    response.headers["Retry-After"] = retryAfter
    return .respond(response)
  }
}

private struct AnyKey: CodingKey {
  var stringValue: String
  var intValue: Int? { nil }

  init?(stringValue: String) { self.stringValue = stringValue }
  init?(intValue: Int) { return nil }
}
