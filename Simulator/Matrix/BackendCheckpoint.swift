import ProcessFaults

/// A boundary in the simulated backend at which its process can be killed.
enum BackendCheckpoint: String, CaseIterable {
  /// A request for an order was read.
  case ordersReceived = "backend.orders.received"
  /// The order is durable; no response is sent yet.
  case ordersAnswering = "backend.orders.answering"
  /// An upload was read.
  case receiptsReceived = "backend.receipts.received"
  /// The store is about to be asked about an upload.
  case storeAsking = "backend.store.asking"
  /// The store has answered.
  case storeAsked = "backend.store.asked"
  /// A row is about to be written, or the transaction is about to be committed.
  case writing = "backend.writing"
  /// The grant is durable; no response is sent yet.
  case receiptsAnswering = "backend.receipts.answering"
  /// A request to adopt a device's purchases was read.
  case adoptionsReceived = "backend.adoptions.received"
  /// The adoption is durable; no response is sent yet.
  case adoptionsAnswering = "backend.adoptions.answering"
}

extension Checkpoints {
  /// Passes a checkpoint of the backend. Does not return if the process is killed there.
  func pass(_ checkpoint: BackendCheckpoint) { pass(named: checkpoint.rawValue) }
}
