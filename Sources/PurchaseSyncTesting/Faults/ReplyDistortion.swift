import Foundation
public import PurchaseSync

/// A change of the backend's answer to an upload, after the commit.
///
/// A client that believes such an answer loses or settles the wrong transactions; a client that discards it retries for
/// ever. Other replies, such as a problem document, are not changed.
public enum ReplyDistortion: Sendable, Hashable {
  /// Every verdict is about an unclaimed transaction in place of the claimed one.
  case wrongTransactions
  /// One more verdict, about an unclaimed transaction.
  case unclaimed(Verdict, transactionID: String)
  /// Each claim has a second verdict, before or after the true one.
  case contradicting(Verdict, isFirst: Bool)
  /// Only the first so many verdicts.
  case partial(Int)
  /// The verdicts in reverse order.
  case reversed
  /// The same verdict for every claim, for example an unknown word.
  case word(Verdict)
  /// Every claim waits, with this `retryAfter` in seconds: negative, a year, or more than a number of milliseconds.
  case pending(retryAfter: Double)
  /// Every verdict names this order.
  case order(String)
  /// Another ledger epoch, without a restored backup.
  case ledgerEpoch(String)
  /// This many more bytes, in an unknown key.
  case padded(bytes: Int)

  /// The changed body; the same one if it is no upload's reply.
  func applied(to body: [UInt8]) -> [UInt8] {
    if case .padded(let bytes) = self {
      guard body.last == UInt8(ascii: "}"), body.count > 2 else { return body }
      let padding = Array(repeating: UInt8(ascii: "x"), count: max(0, bytes))
      return body.dropLast() + Array(",\"padding\":\"".utf8) + padding + Array("\"}".utf8)
    }
    do {
      let reply = try JSONDecoder().decode(UploadReply.self, from: Data(body))
      let encoder = JSONEncoder()
      encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
      return Array(try encoder.encode(changed(reply)))
    } catch {
      return body
    }
  }

  private func changed(_ original: UploadReply) -> UploadReply {
    var reply = original
    switch self {
    case .wrongTransactions:
      for index in reply.verdicts.indices { reply.verdicts[index].transactionID += "0000" }
    case .unclaimed(let verdict, let id):
      let environment = reply.verdicts.first?.environment ?? "Production"
      reply.verdicts.append(ClaimVerdict(environment: environment, transactionID: id, verdict: verdict))
    case .contradicting(let verdict, let isFirst):
      reply.verdicts = reply.verdicts.flatMap { given in
        let other = ClaimVerdict(
          environment: given.environment, transactionID: given.transactionID, verdict: verdict)
        return isFirst ? [other, given] : [given, other]
      }
    case .partial(let count): reply.verdicts = Array(reply.verdicts.prefix(max(0, count)))
    case .reversed: reply.verdicts.reverse()
    case .word(let verdict):
      for index in reply.verdicts.indices { reply.verdicts[index].verdict = verdict }
    case .pending(let seconds):
      for index in reply.verdicts.indices {
        reply.verdicts[index].verdict = .pending
        reply.verdicts[index].retryAfter = seconds
      }
    case .order(let number):
      for index in reply.verdicts.indices { reply.verdicts[index].orderNumber = number }
    case .ledgerEpoch(let epoch): reply.ledgerEpoch = epoch
    case .padded: break
    }
    return reply
  }
}
