import ProcessFaults
import PurchaseQueue

/// A checkpoint at which the matrix kills the app or the backend.
struct MatrixPoint: Hashable {
  /// The process that is killed.
  enum Process: String, CaseIterable {
    case app, backend
  }

  var name: String
  var process: Process
  /// The step that has just happened, or is about to happen.
  var moment: String

  private init(_ checkpoint: Checkpoint, _ moment: String) {
    (name, self.moment, process) = (checkpoint.rawValue, moment, .app)
  }

  private init(_ checkpoint: AppCheckpoint, _ moment: String) {
    (name, self.moment, process) = (checkpoint.rawValue, moment, .app)
  }

  private init(_ checkpoint: BackendCheckpoint, _ moment: String) {
    (name, self.moment, process) = (checkpoint.rawValue, moment, .backend)
  }

  static let all: [MatrixPoint] = opening + ordering + queueing + sending + settling + backend

  /// Checkpoints that no scenario of the matrix passes, each with the check that covers it instead.
  static let exempt: [Checkpoint: String] = [
    .quarantineCommitted: "no purchase of a scenario is refused; explore kills in quarantine",
    .releaseCommitted: "no purchase of a scenario is refused; explore kills in quarantine",
    .entriesIsolated: "no scenario damages a row; crash-images recovers damaged values",
    .salvageBegin: "no scenario damages a page; crash-images ends a salvage at every write",
    .salvageDone: "no scenario damages a page; crash-images ends a salvage at every write",
  ]

  private static let opening = [
    MatrixPoint(.schemaCreating, "the queue's file is about to be made"),
    MatrixPoint(.schemaCreated, "the file has its schema"),
    MatrixPoint(.migrationBegin, "a file of an earlier version was found"),
    MatrixPoint(.migrationCommitted, "the file has this version"),
    MatrixPoint(.journalPrepared, "the engine's own tables are there"),
    MatrixPoint(.vaultRestored, "the keychain's items of an earlier install are queued"),
    MatrixPoint(.storeListed, "the store has listed its unfinished transactions"),
  ]
  private static let ordering = [
    MatrixPoint(.orderRequesting, "capacity is reserved, the request's key is durable"),
    MatrixPoint(.orderReceived, "the backend's order has arrived"),
    MatrixPoint(.orderCommitted, "the order is durable"),
    MatrixPoint(.paymentBefore, "before the payment sheet"),
    MatrixPoint(.paymentAfter, "charged; the app does not know it yet"),
  ]
  private static let queueing = [
    MatrixPoint(.transactionArrived, "the store has called back"),
    MatrixPoint(.enqueueBegin, "the purchase is about to be written"),
    MatrixPoint(.enqueueCommitted, "the purchase is durable"),
    MatrixPoint(.vaultChunk, "a part of its proof is in the keychain"),
    MatrixPoint(.enqueueMirrored, "all of it is in the keychain"),
    MatrixPoint(.adoptionCommitted, "the adoption of the device's purchases is durable"),
  ]
  private static let sending = [
    MatrixPoint(.attemptCommitted, "the attempt is counted"),
    MatrixPoint(.uploadSending, "the upload is about to be sent"),
    MatrixPoint(.transportSend, "a request is handed to the network"),
    MatrixPoint(.transportAnswered, "a response has come from the network"),
    MatrixPoint(.uploadReceived, "the upload's reply is read, nothing is written"),
    MatrixPoint(.adoptionSending, "the adoption is about to be sent"),
    MatrixPoint(.adoptionAnswered, "the reply to the adoption has arrived"),
  ]
  private static let settling = [
    MatrixPoint(.settleCommitted, "tombstone, removal and pending finish are durable"),
    MatrixPoint(.settleMirrored, "the keychain's copy is removed"),
    MatrixPoint(.finishCalling, "the store is about to be told"),
    MatrixPoint(.storeFinish, "the call is on its way"),
    MatrixPoint(.storeFinished, "the store has finished the transaction"),
    MatrixPoint(.finishCalled, "the app knows it, and has not written it"),
    MatrixPoint(.finishCommitted, "no finish is pending to the store any more"),
    MatrixPoint(.outcomeSeen, "the app has confirmed the outcome"),
  ]
  private static let backend = [
    MatrixPoint(.ordersReceived, "a request for an order was read"),
    MatrixPoint(.ordersAnswering, "the order is durable, no response is sent"),
    MatrixPoint(.receiptsReceived, "an upload was read"),
    MatrixPoint(.storeAsking, "the store is about to be asked"),
    MatrixPoint(.storeAsked, "the store has answered"),
    MatrixPoint(.writing, "before a row is written, or before the commit"),
    MatrixPoint(.receiptsAnswering, "the grant is durable, no response is sent"),
    MatrixPoint(.adoptionsReceived, "an adoption was read"),
    MatrixPoint(.adoptionsAnswering, "the adoption is durable, no response is sent"),
  ]
}
