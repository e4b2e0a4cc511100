import PurchaseQueue

/// How much an upload carries, while entries are added to it. A proof that several entries share counts once.
struct UploadLoad: Hashable {
  /// The most bytes of one upload's body: 4 MiB. An entry whose proof alone is longer goes alone.
  static var mostBytes: Int { 4 << 20 }
  /// What one claim takes besides its proof, and more.
  private static var bytesPerClaim: Int { 512 }

  private(set) var bytes = 0
  private var proofs: Set<PayloadReference> = []

  /// Adds an entry, if the upload has space for it.
  mutating func takes(_ entry: Entry) -> Bool {
    var more = Self.bytesPerClaim
    let proof = entry.preferredProof
    if let proof, !proofs.contains(proof) { more += proof.bytesOnTheWire }
    guard bytes + more <= Self.mostBytes else { return false }
    bytes += more
    if let proof { proofs.insert(proof) }
    return true
  }
}

extension Entry {
  /// Its proofs in the order in which they are tried. An app receipt last: it may lack the transaction that it came with,
  /// and stays as it is once its Apple ID is gone.
  var proofsByPreference: [PayloadReference] {
    payloads.sorted { !$0.isAppReceipt && $1.isAppReceipt }
  }

  /// The proof that an upload carries; nil if the entry never had one.
  var preferredProof: PayloadReference? { proofsByPreference.first { !$0.isByReference } ?? payloads.first }

  /// Whether it has proofs, and the bytes of none of them are in the file.
  var isByReference: Bool { !payloads.isEmpty && payloads.allSatisfy(\.isByReference) }
}

extension PayloadReference {
  /// A signed transaction goes verbatim, everything else in base64.
  fileprivate var bytesOnTheWire: Int {
    kind == ProofKind.signedTransaction.rawValue ? size : (size / 3 + 1) * 4
  }
}
