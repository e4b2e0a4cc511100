import PurchaseQueue

// The example of the documentation is between the two marks. A test compares the texts.
// MARK: begin
/// Sends every entry that is ready, in the order of the queue.
func deliver(
  _ queue: ReceiptQueue, send: (Entry, Proof) async throws -> Bool
) async throws -> [EntryKey] {
  var delivered: [EntryKey] = []
  while let entry = try await queue.nextReady() {
    guard let reference = entry.proofs.first, let proof = try await queue.proof(reference) else {
      try await queue.quarantine(entry.key, reason: "its bytes have to be read from their source")
      continue
    }
    // Durable before the send: after a crash, the attempt count shows that the entry may have arrived.
    try await queue.recordAttempt([entry.key])
    if try await send(entry, proof) {
      // A crash before this line sends the entry again: the receiver has to recognize its key.
      try await queue.acknowledge([Settlement(entry)])
      delivered.append(entry.key)
    } else {
      try await queue.quarantine(entry.key, reason: "the address cannot be read")
    }
  }
  return delivered
}
// MARK: end
