import PurchaseQueue
package import PurchaseSync

/// What a device committed between two looks at its file, as steps of the protocol.
package struct CommitSteps {
  /// The number of the transaction of a key.
  package let transaction: (String) -> Int
  /// The party of an entry's lane; of nil where nothing is known of the entry any more.
  package let party: (FileWatch.Row?) -> ProtocolStep.Party
  /// Whether support staff gave the entry up.
  package let isDiscarded: (String) -> Bool

  package init(
    transaction: @escaping (String) -> Int, party: @escaping (FileWatch.Row?) -> ProtocolStep.Party,
    isDiscarded: @escaping (String) -> Bool
  ) {
    (self.transaction, self.party, self.isDiscarded) = (transaction, party, isDiscarded)
  }

  package func steps(
    on device: Int, from known: FileWatch.Content, to content: FileWatch.Content
  ) -> [ProtocolStep] {
    var steps: [ProtocolStep] = []
    for (key, row) in content.rows.sorted(by: { $0.key < $1.key }) {
      if let before = known.rows[key] {
        // Settled, and queued again as an update in the same commit.
        let isNew = before.place != row.place
        guard isNew || known.stones[key]?.outcome != content.stones[key]?.outcome else { continue }
        steps.append(settled(key, on: device, content, was: known))
      }
      steps.append(.queued(transaction(key), on: device, in: party(row)))
    }
    for (key, stone) in content.stones.sorted(by: { $0.key < $1.key })
    where known.rows[key] == nil && content.rows[key] == nil && known.stones[key]?.outcome != stone.outcome {
      // Queued, sent and settled since.
      steps.append(.queued(transaction(key), on: device, in: party(nil)))
      steps.append(settled(key, on: device, content, was: FileWatch.Content()))
    }
    for key in known.rows.keys.sorted() where content.rows[key] == nil {
      steps.append(settled(key, on: device, content, was: known))
    }
    return steps
  }

  private func settled(
    _ key: String, on device: Int, _ content: FileWatch.Content, was known: FileWatch.Content
  ) -> ProtocolStep {
    let outcome = content.stones[key]?.outcome ?? ""
    let isQuestion = known.rows[key].map { Lane(rawValue: $0.lane).asker != nil } ?? false
    // Of an update the record stays as it was.
    let isGivenUp =
      outcome == "discarded" || isDiscarded(key) && known.stones[key]?.outcome == outcome
    // What was refunded or over may stay so without another verdict.
    let isOver = Tombstone.verdict(in: outcome).isOver && known.stones[key]?.outcome == outcome
    guard isGivenUp || isQuestion || isOver else {
      return .settled(transaction(key), on: device, ProtocolStep.Word(Tombstone.verdict(in: outcome)))
    }
    return .removed(transaction(key), on: device, isGivenUp: isGivenUp)
  }
}

extension ProtocolStep.Word {
  package init(_ verdict: Verdict) { self = Self(rawValue: verdict.rawValue) ?? .other }
}
