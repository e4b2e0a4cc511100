import Foundation
import PurchaseQueue
import PurchaseSyncTesting
import Testing

@testable import PurchaseSync

/// The hand-written JSON has the same meaning as an encoder's.
@Suite struct UploadJSONTests {
  private func text(_ random: inout SplitMix64) -> String {
    let pieces = [
      "a", "9", "+/=", "\"", "\\", "\n", "\u{0}", "\u{1F}", "\u{7F}", "é", "\u{2028}", "👨‍👩‍👧", "</script>", "",
    ]
    return (0..<random.below(8)).map { _ in pieces[Int(random.below(Int64(pieces.count)))] }.joined()
  }

  private func claim(_ random: inout SplitMix64) -> Claim {
    func maybe(_ random: inout SplitMix64) -> String? { random.below(2) == 0 ? nil : text(&random) }
    let candidates = random.below(2) == 0 ? nil : (0..<random.below(4)).map { _ in text(&random) }
    return Claim(
      transactionID: text(&random), originalTransactionID: maybe(&random), environment: text(&random),
      productID: text(&random), quantity: Int(truncatingIfNeeded: random.next()),
      purchasedAt: Timestamp(milliseconds: Int64(bitPattern: random.next())),
      match: Claim.Match(rawValue: text(&random)), orderNumber: maybe(&random), candidates: candidates,
      evidence: maybe(&random), unverified: [nil, true, false][Int(random.below(3))],
      order: random.below(3) > 0
        ? nil
        : DeviceOrder(
          number: text(&random), accountToken: random.nextUUID(), account: text(&random),
          productID: text(&random), quantity: Int(random.below(9)),
          state: OrderState(rawValue: text(&random)),
          createdAt: Timestamp(milliseconds: 7)),
      proof: [nil, 0, 7][Int(random.below(3))])
  }

  @Test(arguments: 0..<50) func `every request is read back unchanged`(seed: Int) throws {
    var random = SplitMix64(seed: UInt64(seed))
    let claims = (0..<random.below(5)).map { _ in claim(&random) }
    let proofs = (0..<random.below(3)).map { _ in
      ProofDocument(kind: .appReceipt, data: text(&random))
    }
    let request = UploadRequest(device: random.nextUUID(), proofs: proofs, claims: claims)
    let read = try JSONDecoder().decode(UploadRequest.self, from: request.json())
    #expect(read.device == request.device && read.proofs == request.proofs && read.claims == request.claims)
    // Compares with an encoder's output, member by member.
    let written = try JSONSerialization.jsonObject(with: request.json()) as? NSDictionary
    var encoded = try JSONSerialization.jsonObject(with: JSONEncoder().encode(request)) as? [String: Any]
    // An empty list and none are the same on the wire.
    if proofs.isEmpty { encoded?["proofs"] = nil }
    #expect(written == encoded as NSDictionary? && written != nil)
  }

  @Test func `a field that is added to the wire must be added to the writer`() {
    // If you add a field, change these numbers and the writer.
    let claim = Claim(
      transactionID: "", environment: "", productID: "", quantity: 1, purchasedAt: Timestamp(milliseconds: 0),
      match: .none)
    #expect(Mirror(reflecting: claim).children.count == 13)
    let request = UploadRequest(device: UUID(), proof: ProofDocument(kind: .appReceipt, data: ""), claims: [])
    #expect(Mirror(reflecting: request).children.count == 3)
  }
}
