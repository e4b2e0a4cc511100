import PurchaseQueue

/// Sends every postcard that is ready, in the order of the lanes. What cannot be delivered goes to quarantine.
func deliver(
  _ queue: DurableQueue, send: (Entry, Payload) async throws -> Bool
) async throws -> [EntryKey] {
  var delivered: [EntryKey] = []
  for await delivery in queue.deliveries(endsWhenIdle: true) {
    if try await send(delivery.entry, delivery.payloads[0]) {
      try await delivery.acknowledge()
      delivered.append(delivery.entry.key)
    } else {
      try await delivery.quarantine(reason: "the address cannot be read")
    }
  }
  return delivered
}
