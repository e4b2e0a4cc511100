import Foundation
import PurchaseQueue

/// Whether a body is ours, and what it says. What is not ours is no error: the status decides what it means.
enum ReplyReading {
  /// The verdicts, if the body is a reply of the wire protocol: JSON with a ledger epoch and a list.
  ///
  /// A verdict that cannot be read leaves its claim unanswered and does not take the others with it; a field of it
  /// that does not matter is left out.
  static func reply(in response: BackendResponse) -> UploadReply? {
    guard isJSON(response.contentType) else { return nil }
    let reply = decode(UploadReply.self, response.body) ?? decode(LenientReply.self, response.body)?.reply
    return reply?.ledgerEpoch.isEmpty == false ? reply : nil
  }

  /// Whether a claim of the device's purchases was taken: a success with an object, or with nothing where the status says
  /// so. A captive portal's page with 200 would else end a claim that nobody got.
  static func isTaken(_ response: BackendResponse) -> Bool {
    if response.status == 204 { return response.body.isEmpty }
    return (200...299).contains(response.status) && isJSON(response.contentType)
      && decode(JSONObject.self, response.body) != nil
  }

  /// The problem that the backend tells, if it is ours.
  static func problem(in response: BackendResponse) -> ProblemDocument? {
    isJSON(response.contentType) ? decode(ProblemDocument.self, response.body) : nil
  }

  /// One line for logs: the status, what sort of body it has, and the title of a problem. Nothing else of the body.
  static func description(of response: BackendResponse) -> String {
    if let problem = problem(in: response) {
      return "HTTP \(response.status): \(Redaction.line(problem.title))"
    }
    guard (200...399).contains(response.status) || response.status == 403 else {
      return "HTTP \(response.status)"
    }
    let type = isJSON(response.contentType) ? "" : " of type \(Redaction.line(response.contentType ?? ""))"
    return "HTTP \(response.status) with \(response.body.count) bytes\(type) that are not the backend's"
  }

  /// `application/json` or anything that ends in `+json`. A transport that tells no type is believed.
  private static func isJSON(_ contentType: String?) -> Bool {
    guard let contentType else { return true }
    let type = contentType.prefix { $0 != ";" }.filter { $0 != " " && $0 != "\t" }.lowercased()
    return type == "application/json" || type.hasSuffix("+json")
  }

  private static func decode<T: Decodable>(_ type: T.Type, _ body: Data) -> T? {
    do {
      return try JSONDecoder().decode(type, from: body)
    } catch {
      return nil  // Not ours: what that means, the status decides.
    }
  }
}

/// Any JSON object.
private struct JSONObject: Decodable {
  private enum Key: CodingKey {}

  init(from decoder: any Decoder) throws { _ = try decoder.container(keyedBy: Key.self) }
}

/// A reply of which only what is needed has to be right.
private struct LenientReply: Decodable {
  var reply: UploadReply

  private enum Key: String, CodingKey { case ledgerEpoch, verdicts }

  init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: Key.self)
    let verdicts = try container.decode([LenientVerdict].self, forKey: .verdicts)
    reply = UploadReply(
      ledgerEpoch: try container.decode(String.self, forKey: .ledgerEpoch),
      verdicts: verdicts.compactMap(\.verdict))
  }
}

/// A verdict, or nil where a list holds something else.
private struct LenientVerdict: Decodable {
  var verdict: ClaimVerdict?

  private enum Key: String, CodingKey {
    case environment, transactionID, verdict, orderNumber, reason, retryAfter, storeStatus
  }

  init(from decoder: any Decoder) {
    do {
      let container = try decoder.container(keyedBy: Key.self)
      func optional<T: Decodable>(_ key: Key, _ type: T.Type) -> T? {
        do {
          return try container.decodeIfPresent(type, forKey: key)
        } catch {
          return nil  // Of the wrong type: as if it were not there.
        }
      }
      verdict = ClaimVerdict(
        environment: try container.decode(String.self, forKey: .environment),
        transactionID: try container.decode(String.self, forKey: .transactionID),
        verdict: try container.decode(Verdict.self, forKey: .verdict),
        // An order number decides over money: one that cannot be read is no verdict.
        orderNumber: try container.decodeIfPresent(String.self, forKey: .orderNumber),
        reason: optional(.reason, String.self), retryAfter: optional(.retryAfter, Double.self),
        storeStatus: optional(.storeStatus, Int.self))
    } catch {
      verdict = nil
    }
  }
}
