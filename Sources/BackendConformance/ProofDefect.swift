import PurchaseSyncTesting

/// One rule about signatures: the store breaks it on request, a check asks whether the backend notices, and a planted bug
/// overlooks it. All documents that the store signs have the same rules.
struct ProofDefect: Sendable {
  let broken: BrokenProof
  /// A part of the names of the checks.
  let word: String
  /// A part of the names of the bugs.
  let bug: String
  /// What a backend with the bug does.
  let overlooks: String

  private init(_ broken: BrokenProof, _ word: String, _ bug: String, _ overlooks: String) {
    (self.broken, self.word, self.bug, self.overlooks) = (broken, word, bug, overlooks)
  }

  static let all: [ProofDefect] = [
    ProofDefect(
      .wrongRoot, "other-root", "root-unpinned", "the root is not compared with the one that is known"),
    ProofDefect(
      .pastedRoot, "pasted-root", "issuers-unchecked",
      "it is not checked that each certificate signs the next"
    ),
    ProofDefect(.missingLeafMarker, "leaf-oid", "leaf-oid-unread", "the leaf's marker is not looked at"),
    ProofDefect(
      .missingIntermediateMarker, "intermediate-oid", "intermediate-oid-unread",
      "the intermediate's marker is not looked at"),
    ProofDefect(.expiredLeaf, "expired", "dates-unread", "the dates of the certificates are not looked at"),
    ProofDefect(
      .shortChain, "short-chain", "short-chain-believed", "missing certificates are not missed"),
    ProofDefect(
      .wrongAlgorithm, "algorithm", "algorithm-believed", "the algorithm of the header is believed"),
    ProofDefect(.unsigned, "no-signature", "no-signature-believed", "a missing signature is no reason"),
    ProofDefect(
      .tamperedPayload, "changed", "content-unsigned", "the content may differ from the signed one"),
    ProofDefect(.revoked, "revoked", "revocation-unasked", "it is not asked whether the leaf is revoked"),
  ]

  /// Of signed transactions the last three have checks of their own.
  static let ofTransactions: [ProofDefect] = Array(all.dropLast(3))
  /// An unsigned one has a check of its own.
  static let ofNotifications: [ProofDefect] = all.filter { $0.broken != .unsigned }
}
