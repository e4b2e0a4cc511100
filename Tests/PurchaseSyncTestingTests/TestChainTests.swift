import Foundation
import Testing

@testable import PurchaseSyncTesting

/// The test certificates, and the answers about them.
struct TestChainTests {
  private static let root = URL(fileURLWithPath: #filePath)
    .deletingLastPathComponent().deletingLastPathComponent()

  @Test func `the committed certificate is the one that the code makes`() throws {
    let file = Self.root.appendingPathComponent("Apple/Certificates/root.cer")
    #expect(try Array(Data(contentsOf: file)) == TestChain.root)
  }

  @Test func `the documented certificate is the one that the code makes`() throws {
    let page = Self.root.deletingLastPathComponent()
      .appendingPathComponent("Sources/PurchaseSyncTesting/PurchaseSyncTesting.docc/Signatures.md")
    let lines = try String(contentsOf: page, encoding: .utf8).split(separator: "\n")
      .drop { !$0.hasPrefix("-----BEGIN") }.dropFirst().prefix { !$0.hasPrefix("-----END") }
    #expect(Data(base64Encoded: lines.joined()).map(Array.init) == TestChain.root)
  }

  @Test(arguments: [TestChain.Purpose.transactions, .receipts])
  func `a certificate is read as it was written`(purpose: TestChain.Purpose) throws {
    let chain = TestChain(purpose, responder: "http://127.0.0.1:8080/store/ocsp")
    let leaf = try #require(ReadCertificate(chain.leaf))
    let intermediate = try #require(ReadCertificate(chain.intermediate))
    let root = try #require(ReadCertificate(chain.root))
    #expect(root.hasSigned(root) && root.hasSigned(intermediate) && intermediate.hasSigned(leaf))
    #expect(!root.hasSigned(leaf) && !intermediate.hasSigned(intermediate) && !leaf.hasSigned(root))
    #expect(leaf.has(TestCertificate.leafMarker) && !leaf.has(TestCertificate.intermediateMarker))
    #expect(intermediate.has(TestCertificate.intermediateMarker) && !root.has(TestCertificate.leafMarker))
    #expect(leaf.validity == "20160101000000Z"..."20991231235959Z")
    #expect((leaf.key == nil) == (purpose == .receipts))
  }

  @Test func `no issuer gives a serial number twice`() throws {
    var names: [[UInt8]: Set<[UInt8]>] = [:]
    for purpose in [TestChain.Purpose.transactions, .receipts] {
      for defect in [nil] + BrokenProof.allCases where defect != .wrongRoot && defect != .pastedRoot {
        let chain = TestChain(purpose, responder: nil, broken: defect)
        for bytes in [chain.leaf, chain.intermediate] {
          let certificate = try #require(ReadCertificate(bytes))
          names[certificate.issuer + certificate.serialNumber, default: []].insert(bytes)
        }
      }
      let old = try #require(ReadCertificate(TestChain(purpose, responder: nil, age: .ended).leaf))
      names[old.issuer + old.serialNumber, default: []].insert(old.contents)
    }
    #expect(names.count == 12)
    #expect(names.values.allSatisfy { $0.count == 1 })
  }

  @Test(arguments: [0, 1, 2, 40, 200])
  func `bytes that are no certificate are not read as one`(count: Int) {
    let whole = TestChain.root
    #expect(ReadCertificate(Array(whole.prefix(count))) == nil)
    #expect(ReadCertificate([0x30, 0x84, 0xFF, 0xFF, 0xFF, 0xFF] + whole.prefix(count)) == nil)
    #expect(ReadCertificate([UInt8](repeating: 0x30, count: count)) == nil)
  }

  /// A question about one certificate, as `openssl ocsp` writes it, by SHA-1.
  private static func question(_ serial: Int64, issuer: ES256Key) -> [UInt8] {
    let hash = DERNode.constructed(0x30, [.identifier([1, 3, 14, 3, 2, 26]), .null])
    let name = DERNode.constructed(
      0x30,
      [
        hash, .primitive(0x04, SHA1.digest(DERNode.name(TestChain.intermediateName).encoded())),
        .primitive(0x04, SHA1.digest(issuer.publicKey.bytes)), .integer(serial),
      ])
    let request = DERNode.constructed(0x30, [name])
    return DERNode.constructed(0x30, [.constructed(0x30, [.constructed(0x30, [request])])]).encoded()
  }

  /// The tag of a certificate's state in an answer, whose signature is the issuer's.
  private static func state(_ answer: [UInt8], issuer: ES256Key) throws -> UInt8? {
    let basic = try #require(DERElement(answer[...])?[1]?[0]?[1])
    let parts = try #require(DERElement(basic.content)?.children)
    let contents = Array(parts[0].whole)
    #expect(DERNode.signed(contents, by: issuer).encoded() == Array(basic.content))
    return parts[0].children?.last?[0]?[1]?.tag
  }

  @Test func `the responder tells a revoked certificate from a good one`() throws {
    let key = TestKeys.intermediate
    let good = OCSPResponder.answer(
      to: Self.question(SerialNumber.leaf(.transactions, nil), issuer: key))
    #expect(try Self.state(good, issuer: key) == 0x80)
    for purpose in [TestChain.Purpose.transactions, .receipts] {
      let revoked = OCSPResponder.answer(to: Self.question(SerialNumber.revoked(purpose), issuer: key))
      #expect(try Self.state(revoked, issuer: key) == 0xA1)
    }
    let authority = OCSPResponder.answer(
      to: Self.question(SerialNumber.intermediate(marked: true), issuer: TestKeys.root))
    #expect(try Self.state(authority, issuer: TestKeys.root) == 0x80)
  }

  @Test func `a question that is none, or about a stranger's certificate, gets no signed answer`() {
    let refusal: [UInt8] = [0x30, 0x03, 0x0A, 0x01, 0x01]
    #expect(OCSPResponder.answer(to: []) == refusal)
    #expect(OCSPResponder.answer(to: [0x30, 0x00]) == refusal)
    #expect(OCSPResponder.answer(to: TestChain.root) == refusal)
    #expect(
      OCSPResponder.answer(to: Self.question(1, issuer: TestKeys.strangerIntermediate)) == refusal)
  }
}
