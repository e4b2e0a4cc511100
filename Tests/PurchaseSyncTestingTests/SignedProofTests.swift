import AppStoreReceipts
import Foundation
import PurchaseQueue
import Testing

@testable import PurchaseSyncTesting

/// Proofs with real signatures, right and broken. `Tests/Apple/run` lets programs of others judge the same.
struct SignedProofTests {
  private static let forge = ReceiptForge(bundleID: Sample.bundleID, signing: .certificates())
  private static let jws = forge.signedTransaction(Sample.record("42"), signedAt: Sample.now)

  @Test func `a right proof is accepted, and says the same as a checksum's`() throws {
    #expect(Self.forge.verify(Self.jws))
    let read = try SignedTransaction(jws: Self.jws)
    #expect(
      try read
        == SignedTransaction(jws: Sample.forge.signedTransaction(Sample.record("42"), signedAt: Sample.now)))
    let header = try CompactJWS(Self.jws).decodedHeader
    #expect(header.algorithm == "ES256" && header.certificates.count == 3 && !header.isFromXcode)
  }

  @Test func `a proof of a server with another address is accepted`() {
    // Its certificates are others: a device keeps a proof while a mock server is started again at another port.
    let other = ReceiptForge(
      bundleID: Sample.bundleID, signing: .certificates(responder: URL(string: "http://127.0.0.1:1/ocsp")))
    #expect(other.identity?.transactions.leaf != Self.forge.identity?.transactions.leaf)
    #expect(other.refusal(of: Self.jws) == nil)
  }

  @Test(arguments: [
    (BrokenProof.expiredLeaf, ProofRefusal.expired), (.wrongRoot, .root), (.pastedRoot, .issuer),
    (.missingLeafMarker, .marker), (.missingIntermediateMarker, .marker), (.shortChain, .chainLength),
    (.wrongAlgorithm, .algorithm), (.unsigned, .algorithm), (.tamperedPayload, .signature),
    (.revoked, .revoked),
  ])
  func `a broken proof is refused for its reason`(defect: BrokenProof, reason: ProofRefusal) {
    let broken = Self.forge.breaking(defect).signedTransaction(Sample.record("42"), signedAt: Sample.now)
    #expect(Self.forge.refusal(of: broken) == reason)
    #expect(Self.forge.breaking(defect).refusal(of: broken) == reason)
  }

  @Test func `each defect has a test above and a summary of its own`() {
    #expect(BrokenProof.allCases.count == 10)
    #expect(Set(BrokenProof.allCases.map(\.summary)).count == 10)
  }

  @Test func `a proof of a chain that has ended is judged as of its own time`() throws {
    var old = Self.forge
    old.chain = .ended
    let end = ChainAge.end
    let before = old.signedTransaction(Sample.record("42"), signedAt: end.adding(milliseconds: -1_000))
    #expect(Self.forge.refusal(of: before) == nil)
    #expect(old.refusal(of: before) == nil)
    let after = old.signedTransaction(Sample.record("42"), signedAt: end.adding(milliseconds: 1_000))
    #expect(Self.forge.refusal(of: after) == .expired)
    #expect(old.refusal(of: after) == .expired)
  }

  @Test(arguments: [ForgeSigning.checksum, .certificates()])
  func `a leaf says when it ends, and whether it is revoked`(signing: ForgeSigning) throws {
    let forge = ReceiptForge(bundleID: Sample.bundleID, signing: signing)
    func leaf(_ forge: ReceiptForge) throws -> ProofLeaf {
      try #require(ProofLeaf(jws: forge.signedTransaction(Sample.record("42"), signedAt: Sample.now)))
    }
    var old = forge
    old.chain = .ended
    let end = ChainAge.end
    #expect(try !leaf(old).hasEnded(at: end.adding(milliseconds: -1_000)))
    #expect(try leaf(old).hasEnded(at: end.adding(milliseconds: 1_000)))
    #expect(try !leaf(forge).hasEnded(at: end.adding(milliseconds: 1_000)))
    #expect(try leaf(forge.breaking(.revoked)).isRevoked)
    #expect(try !leaf(old).isRevoked)
    for text in ["", "a.b.c", "e30.e30.", Self.jws.split(separator: ".").last.map(String.init) ?? ""] {
      #expect(ProofLeaf(jws: text) == nil)
    }
  }

  @Test func `a broken proof says the same content as a right one, unless it is tampered with`() throws {
    let right = try CompactJWS(Self.jws).payload
    for defect in BrokenProof.allCases {
      let broken = Self.forge.breaking(defect).signedTransaction(Sample.record("42"), signedAt: Sample.now)
      #expect((try CompactJWS(broken).payload == right) == (defect != .tamperedPayload), "\(defect)")
    }
  }

  @Test func `a changed character is detected`() {
    let parts = Self.jws.split(separator: ".")
    for (place, part) in parts.enumerated() {
      for offset in [0, part.count / 2, part.count - 1] {
        var changed = parts.map(String.init)
        let index = changed[place].index(changed[place].startIndex, offsetBy: offset)
        changed[place].replaceSubrange(index...index, with: changed[place][index] == "A" ? "B" : "A")
        #expect(!Self.forge.verify(changed.joined(separator: ".")), "part \(place), character \(offset)")
      }
    }
  }

  @Test func `a change of the bits that base64 does not use is detected`() throws {
    // 64 bytes leave four bits of the last character unused: A, Q, g or w.
    let last = try #require(Self.jws.unicodeScalars.last)
    let next = try #require(Unicode.Scalar(last.value + 1))
    #expect(["A", "Q", "g", "w"].contains(String(last)))
    #expect(!Self.forge.verify(Self.jws.dropLast() + String(next)))
  }

  @Test(arguments: ["", ".", "..", "a.b.c", "no dots", "a.b.", "é.é.é", "e30.e30.", "bnVsbA.bnVsbA.AAAA"])
  func `text of no forge is refused`(text: String) {
    #expect(!Self.forge.verify(text))
  }

  @Test func `a checksum does not pass for a signature, nor a signature for a checksum`() {
    let checksum = Sample.forge.signedTransaction(Sample.record(), signedAt: Sample.now)
    #expect(!Self.forge.verify(checksum))
    #expect(!Sample.forge.verify(Self.jws))
  }

  @Test(arguments: BrokenProof.allCases) func `a broken checksum is refused`(defect: BrokenProof) {
    let broken = Sample.forge.breaking(defect).signedTransaction(Sample.record(), signedAt: Sample.now)
    #expect(!Sample.forge.verify(broken))
    #expect(Sample.forge.verify(Sample.forge.signedTransaction(Sample.record(), signedAt: Sample.now)))
  }

  @Test func `a signed app receipt says the same as a made-up one`() throws {
    let records = [Sample.record("41"), Sample.record("42", quantity: 3)]
    let signed = Self.forge.appReceipt(of: records, createdAt: Sample.now)
    let madeUp = Sample.forge.appReceipt(of: records, createdAt: Sample.now)
    let (read, plain) = (try AppReceipt(decoding: signed), try AppReceipt(decoding: madeUp))
    #expect(read.inApp.map(\.transactionID) == ["41", "42"] && read.inApp.map(\.quantity) == [1, 3])
    #expect(read.bundleID == plain.bundleID && read.applicationVersion == plain.applicationVersion)
    #expect(signed != madeUp)
    let tampered = Self.forge.breaking(.tamperedPayload).appReceipt(of: records, createdAt: Sample.now)
    #expect(try AppReceipt(decoding: tampered).inApp.map(\.quantity) == [100, 100])
  }
}
