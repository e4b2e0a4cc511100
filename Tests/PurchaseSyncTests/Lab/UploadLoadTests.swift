import PurchaseQueue
import Testing

@testable import PurchaseSync

/// How much an upload carries: 4 MiB, with half a KiB for each claim next to its proof.
@Suite struct UploadLoadTests {
  private static let most = 4 << 20

  private func entry(_ proofs: [(kind: ProofKind, size: Int)], id: Int64 = 1) -> Entry {
    Entry(
      place: 1, key: key("100"), lane: alice, orderNumber: nil, details: "",
      payloads: proofs.enumerated().map { index, proof in
        PayloadReference(kind: proof.kind.rawValue, id: id + Int64(index), size: proof.size)
      }, now: midday)
  }

  @Test(arguments: [
    (ProofKind.signedTransaction, (4 << 20) - 512, true),
    (.signedTransaction, (4 << 20) - 511, false),
    // In base64, three bytes take four, and the rest four as well.
    (.appReceipt, ((4 << 20) - 512) / 4 * 3 - 1, true), (.appReceipt, ((4 << 20) - 512) / 4 * 3, false),
  ])
  func `an upload has space for a proof of so many bytes`(kind: ProofKind, size: Int, fits: Bool) {
    var load = UploadLoad()
    let isTaken = load.takes(entry([(kind, size)]))
    #expect(isTaken == fits)
    #expect(load.bytes <= Self.most && (load.bytes > 0) == fits)
  }

  @Test func `a proof that claims share counts once, each claim counts`() {
    var load = UploadLoad()
    let shared = entry([(.signedTransaction, (4 << 20) - 1_024)])
    let taken = (0..<3).map { _ in load.takes(shared) }
    #expect(taken == [true, true, false])
    #expect(load.bytes == Self.most)
  }

  @Test func `an app receipt is tried last`() {
    for order in [[ProofKind.appReceipt, .signedTransaction], [.signedTransaction, .appReceipt]] {
      let proofs = entry(order.map { ($0, 10) }).proofsByPreference
      #expect(proofs.map(\.kind) == ["signedTransaction", "appReceipt"])
    }
  }

  @Test func `proofs of one kind are tried in the order in which they came`() {
    for kind in [ProofKind.signedTransaction, .appReceipt] {
      #expect(entry([(kind, 10), (kind, 10), (kind, 10)]).proofsByPreference.map(\.id) == [1, 2, 3])
    }
  }
}
