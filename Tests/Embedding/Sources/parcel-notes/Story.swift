import Foundation
import PurchaseQueue

/// Writes postcards, kills the writer, opens the queue again, restores it from the vault, and delivers everything.
struct Story {
  func run() async throws {
    let directory = FileManager.default.temporaryDirectory.path + "/parcel-notes-" + UUID().uuidString
    let home = Home(directory: directory)
    let result: Result<Void, any Error>
    do {
      result = .success(try await tell(home))
    } catch {
      result = .failure(error)
    }
    try FileManager.default.removeItem(atPath: directory)
    try result.get()
  }

  private func tell(_ home: Home) async throws {
    let told = try Writer.runAndKill(home: home, after: 7)
    print("killed the writer after it told of \(told.count) postcards")
    let found = try reopen(home, told: told)
    print("the queue has \(found.count) of them, in order, each with its text")

    try FileManager.default.removeItem(atPath: home.container)
    try FileManager.default.createDirectory(atPath: home.container, withIntermediateDirectories: true)
    let queue = try await DurableQueue.open(path: home.path, vault: home.vault)
    let restored = try await queue.read { try $0.count() }
    try require(restored == found.count, "the vault restores every postcard")
    print("deleted the app: the vault restored \(restored)")

    try await post(queue, found)
    let health = try await queue.read { try $0.health() }
    try require(health.queued == 0 && health.quarantined == 0 && health.bytes == 0, "nothing is left")
    try require(health.tombstones == found.count, "each postcard left a tombstone")
    try await queue.close()
    try require(try home.vault.list().isEmpty, "the vault is empty as well")
    print("nothing is left in queue and vault")
  }

  /// With the synchronous queue, as a process that starts after a crash.
  private func reopen(_ home: Home, told: [String]) throws -> [EntryKey] {
    let queue = try QueueFile(path: home.path, vault: home.vault)
    let entries = try queue.read { queue in
      try queue.lanes().flatMap { try queue.entries(in: $0, limit: 1_000) }.sorted { $0.place < $1.place }
    }
    let keys = entries.map(\.key.rawValue)
    // The kill may have hit after a commit and before its line was printed.
    try require(
      keys.starts(with: told) && keys.count <= told.count + 1, "every printed postcard is in the queue")
    for (index, entry) in entries.enumerated() {
      let payload = try entry.payloads.first.flatMap { reference in
        try queue.read { try $0.payload(reference) }
      }
      let words = Array("Greetings no. \(index + 1)".utf8)
      try require(payload?.bytes == words, "\(entry.key) is as it was written")
    }
    return entries.map(\.key)
  }

  private func post(_ queue: DurableQueue, _ keys: [EntryKey]) async throws {
    let (smudged, unwanted) = (EntryKey(rawValue: "card-3"), EntryKey(rawValue: "card-5"))
    var isLegible = false
    func send(_ entry: Entry, _ payload: Payload) -> Bool {
      isLegible || entry.key != smudged && entry.key != unwanted
    }
    let sent = try await deliver(queue, send: send)
    try require(
      try await queue.read { try $0.quarantined() }.map(\.key) == [smudged, unwanted], "two are in quarantine"
    )
    print("delivered \(sent.count), two are in quarantine")

    try await queue.write {
      try $0.discard(unwanted, by: "ada", reason: "the address does not exist any more")
    }
    try await queue.write { try $0.release(smudged) }
    isLegible = true
    let late = try await deliver(queue, send: send)
    let settled = sent + late + [unwanted]
    try require(settled.count == keys.count, "no postcard was sent twice")
    try require(Set(settled) == Set(keys), "all but the discarded one arrived")
    print("delivered \(late[0]) after its release, and discarded \(unwanted):\n")
    for key in [smudged, unwanted] {
      guard let file = try await queue.read({ try $0.caseFile(for: key) }) else {
        throw BrokenPromise(description: "broken promise: \(key) has a case file")
      }
      print("\(file)\n")
    }
  }
}
