public import Foundation
public import PurchaseQueue
public import PurchaseSync

/// How the backend came to know something (`create_type`, R3.1).
public enum KnowledgeSource: Sendable, Hashable {
  /// Somebody uploaded it.
  case upload
  /// The job asked.
  case job
  /// The store told, by a notification of this type.
  case notification(String)

  /// 1 upload, 2 job, 3 notification.
  public var createType: Int64 {
    switch self {
    case .upload: 1
    case .job: 2
    case .notification: 3
    }
  }

  /// `notify_type`
  public var notifyType: String? {
    guard case .notification(let type) = self else { return nil }
    return type
  }
}

/// A row of table A (R3.5): a proof that the backend saw. The model keeps none of them; they are for people who have to
/// find out later what happened.
public struct SeenProof: Sendable, Hashable {
  /// The transaction for which it came: the first one that was claimed, or told of.
  public var transactionID: String
  /// The first transaction of its chain, as far as is known.
  public var originalTransactionID: String
  /// `receipt_data`. Never for logs.
  public var proof: ProofDocument
  /// `createtime`
  public var at: Timestamp
  /// `uuid`
  public var device: UUID?
  /// `uid`
  public var account: String?
  /// `data`: what the store made of it, in words.
  public var summary: String
  /// `create_type` and `notify_type`
  public var source: KnowledgeSource
}

/// A row of table B (R3.6): the newest proof of a subscription, to be verified again.
public struct NewestProof: Sendable, Hashable {
  /// Which subscription.
  public var chain: ChainKey
  /// The transaction with which the proof came.
  public var transactionID: String
  /// `receipt`. Never for logs.
  public var proof: ProofDocument
  /// When the store vouched for it, milliseconds since 1970: of two proofs the later is the newer.
  public var toldAt: Int64
  /// `createtime`: when the backend first had a proof of this subscription.
  public var createdAt: Timestamp
  /// `updatetime`
  public var updatedAt: Timestamp
}

/// One run of the job (R3.9).
public struct JobRun: Sendable, Hashable {
  /// When.
  public var at: Timestamp
  /// How many subscriptions were due.
  public var due: Int
  /// How many of them the store did not answer about.
  public var unanswered: Int

  /// A run.
  public init(at: Timestamp, due: Int, unanswered: Int) {
    self.at = at
    self.due = due
    self.unanswered = unanswered
  }
}
