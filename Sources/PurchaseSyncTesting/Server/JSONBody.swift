import Foundation
import LoopbackHTTP

/// Bodies as JSON. An unreadable body is answered 400 with the place of the error, never with the value.
enum JSONBody {
  static func decode<T: Decodable>(_ type: T.Type, from request: HTTPRequest) throws -> T {
    do {
      return try JSONDecoder().decode(type, from: Data(request.body))
    } catch let error as DecodingError {
      throw HTTPProblem.malformed(describe(error))
    } catch {
      throw HTTPProblem.malformed("the body is not readable JSON")
    }
  }

  static func response(_ value: some Encodable, status: Int = 200) throws -> HTTPResponse {
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

  private static func describe(_ error: DecodingError) -> String {
    switch error {
    case .typeMismatch(let type, let context): "\(path(context)): expected \(type)"
    case .valueNotFound(let type, let context): "\(path(context)): null where \(type) is needed"
    case .keyNotFound(let key, let context): "\(path(context)): \"\(key.stringValue)\" is missing"
    case .dataCorrupted(let context):
      context.codingPath.isEmpty ? "the body is not JSON" : "\(path(context)): not readable"
    @unknown default: "the body is not readable JSON"
    }
  }

  private static func path(_ context: DecodingError.Context) -> String {
    let path = context.codingPath.map { $0.intValue.map(String.init) ?? $0.stringValue }
    return path.isEmpty ? "the body" : path.joined(separator: ".")
  }
}
