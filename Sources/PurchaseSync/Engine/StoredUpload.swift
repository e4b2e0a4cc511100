import Foundation
import PurchaseQueue

/// The stored part of one upload: the claims, and the proofs whose bytes are in the file, each once.
struct StoredUpload {
  /// An entry whose proof is not in the file. It goes alone.
  struct Missing {
    var key: EntryKey
    /// It is an update of a settled transaction. If the store does not list it, the backend asks by id.
    var isUpdate: Bool
  }

  var device: DeviceIdentity
  var proofs: [ProofDocument] = []
  var claims: [Claim]
  var missing: Missing?

  /// Reads the proofs of the entries. Nil if the bytes of one of several are not here.
  init?(
    of entries: [Entry], _ claims: [Claim], device: DeviceIdentity, in file: SyncFile
  ) throws(QueueError) {
    self.device = device
    self.claims = claims
    var places: [PayloadReference: Int] = [:]
    for (index, entry) in entries.enumerated() where !entry.payloads.isEmpty {
      if let place = entry.preferredProof.flatMap({ places[$0] }) {
        self.claims[index].proof = place
      } else if let (reference, proof) = try Self.proof(of: entry, in: file) {
        places[reference] = proofs.count
        self.claims[index].proof = proofs.count
        proofs.append(ProofDocument(proof))
      } else {
        guard entries.count == 1 else { return nil }
        missing = Missing(key: entry.key, isUpdate: try file.queue.tombstone(entry.key) != nil)
      }
    }
  }

  private static func proof(
    of entry: Entry, in file: SyncFile
  ) throws(QueueError) -> (PayloadReference, Payload)? {
    for reference in entry.proofsByPreference {
      if let proof = try file.queue.payload(reference) { return (reference, proof) }
    }
    return nil
  }
}
