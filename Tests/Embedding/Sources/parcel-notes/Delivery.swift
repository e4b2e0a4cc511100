import PurchaseQueue

// The example of the documentation, between the two marks: a test compares the text.
// MARK: begin
/// Sends what waits, in the order in which it came, until nothing is left that is ready.
func deliver(
  _ queue: ReceiptQueue, send: (Entry, Proof) async throws -> Bool
) async throws -> [EntryKey] {
  var delivered: [EntryKey] = []
  while let entry = try await queue.nextReady() {
    guard let reference = entry.proofs.first, let proof = try await queue.proof(reference) else {
      try await queue.quarantine(entry.key, reason: "its bytes have to be read from their source")
      continue
    }
    // Durable before the send: after a crash, somebody knows that it may have arrived.
    try await queue.recordAttempt([entry.key])
    if try await send(entry, proof) {
      // The only way out. A crash before this line sends once more: the receiver has to know it by its key.
      try await queue.acknowledge([Settlement(key: entry.key)])
      delivered.append(entry.key)
    } else {
      try await queue.quarantine(entry.key, reason: "the address cannot be read")
    }
  }
  return delivered
}
// MARK: end
