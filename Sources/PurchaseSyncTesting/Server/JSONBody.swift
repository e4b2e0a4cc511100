import AppStoreReceipts
import Foundation
package import LoopbackHTTP

/// Bodies as JSON. An unreadable body is answered 400 with the place of the error, never with the value.
package enum JSONBody {
  /// The most values of a body, members and items counted. The longest right body is a notification of version 1: 100
  /// transactions of 29 values and their renewals of 13 (StoreFacts d.1). `StoreNotice` takes ten times as many.
  package static let mostValues = StoreNotice.maximumItems * 50

  package static func decode<T: Decodable>(_ type: T.Type, from request: HTTPRequest) throws -> T {
    try check(request)
    // First, because a member that is misspelt is often one that is missing.
    if let strict = type as? any StrictBody.Type, let json = json(request.body) {
      try strict.check(json)
    }
    do {
      return try JSONDecoder().decode(type, from: Data(request.body))
    } catch let error as DecodingError {
      throw HTTPProblem.malformed(describe(error, request.body))
    } catch {
      throw HTTPProblem.malformed("the body is not readable JSON")
    }
  }

  /// Throws for a body that is not JSON or has too many values, before anything is made of it.
  package static func check(_ request: HTTPRequest) throws {
    do throws(ReceiptDecodingError) {
      try JSONValue.check(request.body, mostValues: mostValues)
    } catch {
      throw error.reason == .tooLarge
        ? HTTPProblem.tooLarge("the body has more than \(mostValues) values")
        : HTTPProblem.malformed("the body is not JSON")
    }
  }

  package static func response(_ value: some Encodable, status: Int = 200) throws -> HTTPResponse {
    let encoder = JSONEncoder()
    // Equal values have equal bytes.
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    do {
      let body = try encoder.encode(value)
      return HTTPResponse(status: status, headers: ["Content-Type": "application/json"], body: Array(body))
    } catch {
      throw HTTPProblem(status: 500, type: "encoding", title: "The answer could not be written")
    }
  }

  private static func describe(_ error: DecodingError, _ body: [UInt8]) -> String {
    switch error {
    case .typeMismatch(let type, let context): "\(path(context)): expected \(type)"
    case .valueNotFound(let type, let context): "\(path(context)): null where \(type) is needed"
    case .keyNotFound(let key, let context): "\(path(context)): \"\(key.stringValue)\" is missing"
    case .dataCorrupted(let context):
      if !context.codingPath.isEmpty {
        "\(path(context)): not readable"
      } else if let place = json(body).flatMap({ fraction(in: $0) }) {
        // Foundation says of such a number only that the data is corrupt.
        "\(place): a whole number is needed, of at most 64 bits"
      } else {
        "the body is not JSON"
      }
    @unknown default: "the body is not readable JSON"
    }
  }

  private static func json(_ body: [UInt8]) -> JSONValue? {
    do throws(ReceiptDecodingError) {
      return try JSONValue(json: Data(body))
    } catch {
      return nil
    }
  }

  /// The place of a number that is not a whole one; nil without one.
  private static func fraction(in json: JSONValue, at path: [String] = []) -> String? {
    switch json {
    case .number: return path.isEmpty ? "the body" : path.joined(separator: ".")
    case .array(let items):
      for (index, item) in items.enumerated() {
        if let place = fraction(in: item, at: path + ["\(index)"]) { return place }
      }
    case .object(let members):
      for name in members.keys.sorted() {
        if let place = members[name].flatMap({
          fraction(in: $0, at: path + [String(name.prefix(64))])
        }) {
          return place
        }
      }
    default: break
    }
    return nil
  }

  private static func path(_ context: DecodingError.Context) -> String {
    let path = context.codingPath.map { $0.intValue.map(String.init) ?? $0.stringValue }
    return path.isEmpty ? "the body" : path.joined(separator: ".")
  }
}
