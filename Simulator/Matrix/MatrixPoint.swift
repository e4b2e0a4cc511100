/// A place where the app or the backend is killed: a boundary between two things that are durable, sent or said.
struct MatrixPoint: Hashable {
  /// Whose process dies.
  enum Process: String, CaseIterable {
    case app, backend
  }

  var name: String
  var process: Process
  /// What has just happened, or is about to.
  var moment: String

  private init(_ name: String, _ moment: String, _ process: Process = .app) {
    (self.name, self.moment, self.process) = (name, moment, process)
  }

  static let all: [MatrixPoint] = opening + ordering + queueing + sending + settling + backend

  private static let opening = [
    MatrixPoint("schema.creating", "the queue's file is about to be made"),
    MatrixPoint("schema.created", "the file has its schema"),
    MatrixPoint("migration.begin", "a file of an earlier version was found"),
    MatrixPoint("migration.committed", "it is one of this version"),
    MatrixPoint("journal.prepared", "the engine's own tables are there"),
    MatrixPoint("vault.restored", "an install found what an earlier one left in the keychain"),
    MatrixPoint("store.listed", "the store has said what it holds unfinished"),
  ]
  private static let ordering = [
    MatrixPoint("order.requesting", "room is reserved, the request's key durable"),
    MatrixPoint("order.received", "the backend's order has arrived"),
    MatrixPoint("order.committed", "the order is durable"),
    MatrixPoint("payment.before", "before the payment sheet"),
    MatrixPoint("payment.after", "charged; the app has not heard of it"),
  ]
  private static let queueing = [
    MatrixPoint("transaction.arrived", "the store has called back"),
    MatrixPoint("enqueue.begin", "the purchase is about to be written"),
    MatrixPoint("enqueue.committed", "it is durable"),
    MatrixPoint("vault.chunk", "a part of its proof is in the keychain"),
    MatrixPoint("enqueue.mirrored", "all of it is in the keychain"),
    MatrixPoint("claim.committed", "the device's purchases are claimed, durably"),
  ]
  private static let sending = [
    MatrixPoint("attempt.committed", "the attempt is counted"),
    MatrixPoint("upload.sending", "the upload is about to leave"),
    MatrixPoint("transport.send", "a request is handed to the network"),
    MatrixPoint("transport.answered", "an answer has come from the network"),
    MatrixPoint("upload.received", "the upload's answer is read; nothing of it is written"),
    MatrixPoint("claim.sending", "the claim is about to leave"),
    MatrixPoint("claim.answered", "its answer has come"),
  ]
  private static let settling = [
    MatrixPoint("settle.committed", "tombstone, removal and finish owed are durable"),
    MatrixPoint("settle.mirrored", "the keychain's copy is gone"),
    MatrixPoint("finish.calling", "the store is about to be told"),
    MatrixPoint("store.finish", "the call is on its way"),
    MatrixPoint("store.finished", "the store has finished it"),
    MatrixPoint("finish.called", "that it has is known, and not written"),
    MatrixPoint("finish.committed", "nothing is owed to the store any more"),
    MatrixPoint("outcome.seen", "the app has confirmed the outcome"),
  ]
  private static let backend = [
    MatrixPoint("backend.orders.received", "a request for an order was read", .backend),
    MatrixPoint("backend.orders.answering", "the order is durable, nothing is said", .backend),
    MatrixPoint("backend.receipts.received", "an upload was read", .backend),
    MatrixPoint("backend.store.asking", "the store is about to be asked", .backend),
    MatrixPoint("backend.store.asked", "the store has answered", .backend),
    MatrixPoint("backend.writing", "a row is about to be written, or the commit to be made", .backend),
    MatrixPoint("backend.receipts.answering", "the grant is durable, nothing is said", .backend),
    MatrixPoint("backend.claims.received", "a claim of a device's purchases was read", .backend),
    MatrixPoint("backend.claims.answering", "the claim is durable, nothing is said", .backend),
  ]
}
