import PurchaseSync
import PurchaseSyncTesting

extension BrokenBackend {
  /// Bugs about the certificates of a proof.
  static let chains: [BrokenBackend] = [
    BrokenBackend(
      "chain-as-of-now", "a proof whose certificates have ended since is rejected",
      hooks: BrokenHooks(hears: { answer, query, _, _, now in
        guard let proof = query.document, let leaf = ProofLeaf(jws: proof.data) else { return }
        if leaf.hasEnded(at: now) { answer.outcome = .forged }
      })),
    BrokenBackend(
      "revoked-believed", "it is not asked whether a certificate is revoked",
      hooks: BrokenHooks(hears: { answer, _, _, _, _ in answer.isProof = true })),
    BrokenBackend(
      "revoked-rejected", "a proof under a certificate that was revoked is rejected",
      hooks: BrokenHooks(hears: { answer, _, _, _, _ in
        if !answer.isProof { answer.outcome = .forged }
      })),
  ]
}
