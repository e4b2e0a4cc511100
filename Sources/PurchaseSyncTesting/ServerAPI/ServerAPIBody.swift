import AppStoreReceipts
import Foundation

/// The body of a request to the App Store Server API.
enum ServerAPIBody {
  /// The JSON object; throws 4000000 for anything else.
  static func object(_ bytes: [UInt8]) throws(ServerAPIError) -> JSONValue {
    let body: JSONValue
    do throws(ReceiptDecodingError) {
      body = try JSONValue(json: Data(bytes))
    } catch {
      throw .badRequest
    }
    guard body.object != nil else { throw .badRequest }
    return body
  }

  /// A UUID as it is written with dashes.
  static func uuid(_ text: String?) -> UUID? {
    guard let text, text.utf8.count == 36 else { return nil }
    return UUID(uuidString: text)
  }
}
