import Foundation
public import PurchaseSync

/// How the backend's answer to an upload is changed after what it says was committed.
///
/// A client that believes such an answer loses or settles what it must not; one that doubts all of it never ends. What
/// is not an upload's reply, a problem document say, stays as it is.
public enum ReplyDistortion: Sendable, Hashable {
  /// Every verdict is about a transaction that nobody claimed, in place of the claimed one.
  case wrongTransactions
  /// One more verdict, about a transaction that nobody claimed.
  case unclaimed(Verdict, transactionID: String)
  /// Each claim has a second verdict, before or after the true one.
  case contradicting(Verdict, isFirst: Bool)
  /// Only the first so many verdicts.
  case partial(Int)
  /// The verdicts in reverse order.
  case reversed
  /// The same word for every claim: a word that nobody knows, say.
  case word(Verdict)
  /// Every claim waits, with this `retryAfter` in seconds: negative, a year, or more than a number of milliseconds.
  case pending(retryAfter: Double)
  /// Every verdict names this order.
  case order(String)
  /// Another ledger epoch, without a restored backup.
  case ledgerEpoch(String)
  /// So many more bytes, in a key that nobody knows.
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
