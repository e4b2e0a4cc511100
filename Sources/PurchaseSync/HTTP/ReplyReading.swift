import Foundation
import PurchaseQueue

/// Reads the body of an answer. A body that is not the backend's is no error: the status decides its meaning.
enum ReplyReading {
  /// Whether an answer may be the backend's, by its status and its type. What is not is never believed, whatever its body
  /// says; what is has to be signed where a ``ReplyVerifier`` is set and it is final (`ReplySignature.isNeeded`). No other
  /// place decides it, so that nothing is believed that was not verified.
  static func isOfProtocol(_ response: BackendResponse) -> Bool {
    (200...299).contains(response.status) || isJSON(response.contentType)
  }

  /// The verdicts, if the body is a reply of the wire protocol: JSON with a ledger epoch and a list.
  ///
  /// An unreadable verdict leaves only its own claim unanswered. An unreadable field that does not matter is
  /// left out.
  static func reply(in response: BackendResponse, now: Timestamp) -> UploadReply? {
    guard isJSON(response.contentType) else { return nil }
    let reply = decode(UploadReply.self, response.body) ?? decode(LenientReply.self, response.body)?.reply
    guard var reply else { return nil }
    // A backend may call its epoch by an empty text. Without a verdict, too, the body says nothing.
    guard !reply.ledgerEpoch.isEmpty || !reply.verdicts.isEmpty else { return nil }
    reply.pauseMilliseconds = response.retryAfter.flatMap {
      RetryAfterField.milliseconds($0, date: response.date, now: now)
    }
    return reply
  }

  /// Whether the backend has accepted the adoption of a device: a success that names the device. A captive portal's `{}`,
  /// or its 204, would end an adoption that the backend never received.
  static func isTaken(_ response: BackendResponse, _ device: UUID) -> Bool {
    (200...299).contains(response.status) && isJSON(response.contentType)
      && decode(AdoptionDocument.self, response.body)?.device == device
  }

  /// Whether the backend refuses the credentials. A captive portal answers 403 as well: only our own problem is a
  /// refusal.
  static func isRefusal(_ response: BackendResponse) -> Bool {
    response.status == 401 || response.status == 403 && problem(in: response)?.type == ProblemDocument.auth
  }

  /// Whether the backend refuses this version of the protocol. A status that needs no signature does not say so.
  static func speaksOtherProtocol(_ response: BackendResponse) -> Bool {
    (400...499).contains(response.status) && ReplySignature.isNeeded(status: response.status)
      && problem(in: response)?.type == ProblemDocument.protocolVersion
  }

  /// The problem document, if the body is one.
  static func problem(in response: BackendResponse) -> ProblemDocument? {
    isJSON(response.contentType) ? decode(ProblemDocument.self, response.body) : nil
  }

  /// One line for logs: the status, the type of the body if it is not the backend's, and a problem's title.
  /// Nothing else of the body.
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

  /// True for `application/json` and for types that end in `+json`, and if the transport reports no type.
  private static func isJSON(_ contentType: String?) -> Bool {
    guard let contentType else { return true }
    let type = contentType.prefix { $0 != ";" }.filter { $0 != " " && $0 != "\t" }.lowercased()
    return type == "application/json" || type.hasSuffix("+json")
  }

  private static func decode<T: Decodable>(_ type: T.Type, _ body: Data) -> T? {
    do {
      return try JSONDecoder().decode(type, from: body)
    } catch {
      return nil  // Not the backend's body: the status decides its meaning.
    }
  }
}

/// A reply in which only the required fields must be valid.
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

/// A verdict; nil if the list holds another value.
private struct LenientVerdict: Decodable {
  var verdict: ClaimVerdict?

  private enum Key: String, CodingKey {
    case environment, transactionID, verdict, orderNumber, reason, retryAfter, storeStatus, owner,
      refundedShare, refundedUnits
  }

  init(from decoder: any Decoder) {
    do {
      let container = try decoder.container(keyedBy: Key.self)
      func optional<T: Decodable>(_ key: Key, _ type: T.Type) -> T? {
        do {
          return try container.decodeIfPresent(type, forKey: key)
        } catch {
          return nil  // A value of the wrong type counts as absent.
        }
      }
      verdict = ClaimVerdict(
        environment: try container.decode(String.self, forKey: .environment),
        transactionID: try container.decode(String.self, forKey: .transactionID),
        verdict: try container.decode(Verdict.self, forKey: .verdict),
        // An order number decides about money: if it cannot be read, the whole verdict is dropped.
        orderNumber: try container.decodeIfPresent(String.self, forKey: .orderNumber),
        reason: optional(.reason, String.self), retryAfter: optional(.retryAfter, Double.self),
        storeStatus: optional(.storeStatus, Int.self), owner: optional(.owner, PurchaseOwner.self),
        refundedShare: optional(.refundedShare, Int.self), refundedUnits: optional(.refundedUnits, Int.self))
    } catch {
      verdict = nil
    }
  }
}
