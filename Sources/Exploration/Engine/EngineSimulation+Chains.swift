import PurchaseSync

/// Certificates that expire while proofs wait: the backend judges as of now, and asks for newer proofs.
extension EngineSimulation {
  /// The certificates of all proofs so far expire. What the store still lists it signs again.
  func endChain() {
    for sale in store.sales.indices where store.sales[sale].isListed {
      store.resign(sale)
      chainVersions[sale] = store.sales[sale].version
    }
    tell(nil, "the certificates of all proofs so far have expired")
  }

  /// Whether the backend asks for a newer proof. Of what the store does not list any more there is none: the backend asks the
  /// store by id. Nor is there one where another Apple ID paid: the store signs only what the phone's own one has bought.
  func isOfEndedChain(_ proof: ProofDocument?, _ sale: Int, _ phone: EnginePhone?) -> Bool {
    guard let first = chainVersions[sale], store.sales[sale].isListed,
      store.sales[sale].buyer == phone?.storeAccount ?? 0, let proof,
      proof.kind == .signedTransaction, let version = proof.data.utf8.last, Int(version) < first
    else { return false }
    checker.mark(.chainEnded)
    return true
  }

  /// A planted bug: the store's list keeps the first proof of each transaction.
  func withFirstProof(_ transaction: StoreTransaction, _ sale: Int) -> StoreTransaction {
    guard bug == .firstProofListed else { return transaction }
    var listed = transaction
    listed.proof = LeanStore.signature(sale, version: 0)
    return listed
  }
}
