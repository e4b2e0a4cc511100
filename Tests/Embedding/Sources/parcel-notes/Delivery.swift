import PurchaseQueue

/// Sends every postcard that is ready, in the order of the lanes. What cannot be read goes to quarantine.
func deliver(
  _ queue: DurableQueue, send: (Entry, Payload) async throws -> Bool
) async throws -> [EntryKey] {
  var delivered: [EntryKey] = []
  for try await delivery in queue.deliveries(endsWhenIdle: true) {
    guard let payload = delivery.payloads.first else {
      try await delivery.quarantine(reason: "its bytes have to be read from their source")
      continue
    }
    if try await send(delivery.entry, payload) {
      try await delivery.acknowledge()
      delivered.append(delivery.entry.key)
    } else {
      try await delivery.quarantine(reason: "the address cannot be read")
    }
  }
  return delivered
}
