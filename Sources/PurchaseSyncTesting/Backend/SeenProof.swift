package import Foundation
package import PurchaseQueue
package import PurchaseSync

/// How the backend learned a fact (`create_type`, R3.1).
package enum KnowledgeSource: Sendable, Hashable {
  /// By an upload.
  case upload
  /// By a question of the job.
  case job
  /// By a notification of this type.
  case notification(String)

  enum CreateType: Int64, Sendable { case upload = 1, job, notification }

  /// `create_type`
  var createType: CreateType {
    get {
      switch self {
      case .upload: .upload
      case .job: .job
      case .notification: .notification
      }
    }
    set {
      switch newValue {
      case .upload: self = .upload
      case .job: self = .job
      case .notification: self = .notification("")
      }
    }
  }

  /// `notify_type`; nil except for notifications. Setting nil changes nothing.
  var notifyType: String? {
    get { if case .notification(let type) = self { type } else { nil } }
    set { if let newValue { self = .notification(newValue) } }
  }
}

/// A row of table A (R3.5): a proof that the backend saw. The model keeps none of them; they help people to find out
/// later what happened.
package struct SeenProof: Sendable, Hashable {
  /// The first claimed transaction, or the first one in the proof.
  package var transactionID: String
  /// The first known transaction of its chain.
  package var originalTransactionID: String
  /// `receipt_data`. Never for logs.
  package var proof: ProofDocument
  /// `createtime`
  package var at: Timestamp
  /// `uuid`
  package var device: UUID?
  /// `uid`
  package var account: String?
  /// `data`: the store's answer in words.
  package var summary: String
  /// `create_type` and `notify_type`
  package var source: KnowledgeSource
}

/// A row of table B (R3.6): the newest proof of a subscription, to be verified again.
package struct NewestProof: Sendable, Hashable {
  package var chain: ChainKey
  package var transactionID: String
  /// `receipt`. Never for logs.
  package var proof: ProofDocument
  /// When the store confirmed it, milliseconds since 1970: the later of two proofs is the newer one.
  package var toldAt: Int64
  /// `createtime`: when the backend first had a proof of this subscription.
  package var createdAt: Timestamp
  /// `updatetime`
  package var updatedAt: Timestamp
}

package struct JobRun: Sendable, Hashable {
  package var at: Timestamp
  package var due: Int
  /// For how many of them the store gave no answer.
  package var unanswered: Int
}
