import AppStoreReceipts
import PurchaseSyncTesting
import TestSupport
import Testing

@Suite struct HostileAppReceiptTests {
  private static let reasons: [BrokenAppReceipt: ReceiptDecodingError.Reason] = [
    .empty: .truncated, .half: .truncated, .lengthBeyondEnd: .truncated, .lengthOfAllOnes: .truncated,
    .lengthOf126Octets: .truncated, .attributeBeyondSet: .truncated, .endless: .truncated,
    .emptyInteger: .truncated, .deepStrings: .tooDeep, .deepSigners: .tooDeep, .withoutBundleID: .missing,
    .withoutTransactionID: .missing, .emptyPurchases: .tooLarge,
  ]

  @Test(arguments: BrokenAppReceipt.allCases)
  func `A broken receipt is refused with place and reason`(receipt: BrokenAppReceipt) {
    let error = decodingFailure { _ = try AppReceipt(decoding: receipt.bytes) }
    #expect(error?.reason == Self.reasons[receipt] ?? .malformed, "\(error?.description ?? "decoded")")
    #expect(error?.location.hasPrefix("byte ") == true)
    #expect(error?.offset.map { $0 <= receipt.bytes.count } == true)
  }

  @Test func `An error names its place down to the attribute of the purchase`() {
    let error = decodingFailure { _ = try AppReceipt(decoding: BrokenAppReceipt.impossibleDate.bytes) }
    #expect(error?.location.hasSuffix(", attribute 1704, in-app purchase 0") == true)
    let joined = ForgedAppReceipt(attributes: [.init(2, .utf8("\0"))]).bytes(.ber(pieces: 2))
    let inPieces = decodingFailure { _ = try AppReceipt(decoding: joined) }
    #expect(inPieces?.location.contains("of the joined content") == true && inPieces?.offset == nil)
  }

  @Test(arguments: AppReceiptTests.forms)
  func `A receipt cut off after any byte is refused`(form: ForgedAppReceipt.Form) throws {
    let purchase = ForgedPurchase(transactionID: "1", productID: "p")
    let bytes = ForgedAppReceipt(bundleID: "com.example.app", purchases: [purchase]).bytes(form)
    _ = try AppReceipt(decoding: bytes)
    for count in 0..<bytes.count {
      let error = decodingFailure { _ = try AppReceipt(decoding: Array(bytes[..<count])) }
      #expect(error?.reason == .truncated, "\(count) of \(bytes.count)")
      #expect(error?.offset.map { $0 <= count } == true)
    }
  }

  @Test(arguments: LongTests.some(AppReceiptTests.forms, every: 3))
  func `Input with any byte changed decodes or is refused`(form: ForgedAppReceipt.Form) {
    let purchase = ForgedPurchase(transactionID: "1", productID: "p")
    var forged = ForgedAppReceipt(attributes: [.init(2, .utf8("b")), .init(purchase: purchase.attributes)])
    forged.signature = [1, 2, 3]
    let bytes = forged.bytes(form)
    for index in bytes.indices {
      for value: UInt8 in [0x00, 0x01, 0x24, 0x30, 0x7F, 0x80, 0x84, 0x88, 0xFE, 0xFF] {
        var changed = bytes
        changed[index] = value
        // Both results are right. The helper records an error of another type.
        _ = decodingFailure { _ = try AppReceipt(decoding: changed) }
      }
    }
  }

  @Test(.enabled(if: LongTests.areOn))
  func `50 MB of zeros, and 16 MiB of them, are refused`() {
    let large = Array(repeating: UInt8(0), count: 50_000_000)
    #expect(decodingFailure { _ = try AppReceipt(decoding: large) }?.reason == .tooLarge)
    let largest = Array(large[..<AppReceipt.maximumByteCount])
    #expect(decodingFailure { _ = try AppReceipt(decoding: largest) }?.reason == .malformed)
    let zeros = ForgedAppReceipt.message(.primitive(0x04, Array(large[..<10_000_000]))).encoded()
    #expect(decodingFailure { _ = try AppReceipt(decoding: zeros) }?.reason == .malformed)
    let pieces = ForgedAppReceipt.message(.verbatim([0x24, 0x80] + large[..<10_000_000])).encoded()
    #expect(decodingFailure { _ = try AppReceipt(decoding: pieces) }?.reason == .truncated)
  }

  @Test(arguments: [10, LongTests.count(short: 1_000, long: 10_000)])
  func `Many purchases decode in every form`(count: Int) throws {
    let purchases = (0..<count).map { ForgedPurchase(transactionID: String($0), productID: "coins.\($0)") }
    let forged = ForgedAppReceipt(bundleID: "b", purchases: purchases)
    let receipt = try AppReceipt(decoding: forged.bytes())
    #expect(receipt.inApp.map(\.transactionID) == purchases.map(\.transactionID))
    for form in AppReceiptTests.forms { #expect(try AppReceipt(decoding: forged.bytes(form)) == receipt) }
  }

  @Test
  func `A megabyte of the smallest unknown attributes is kept in no more bytes than it came in`() throws {
    var forged = ForgedAppReceipt(attributes: [.init(2, .utf8("b"))])
    forged.attributes += (0..<100_000).map { .init(30 + $0 % 60, raw: []) }
    let receipt = try AppReceipt(decoding: forged.bytes())
    #expect(receipt.unknownAttributes.count { $0.value.isEmpty } == 100_000)
  }

  @Test func `An empty id counts as missing, and an empty original id becomes the transaction's own`() throws
  {
    for empty: Int64 in [1702, 1703, 1705, 2] {
      var purchase = ForgedPurchase(transactionID: "1", originalTransactionID: "0", productID: "p").attributes
      purchase = purchase.map { $0.type == empty ? .init(empty, .utf8("")) : $0 }
      let bundleID = DERNode.utf8(empty == 2 ? "" : "b")
      let forged = ForgedAppReceipt(attributes: [.init(2, bundleID), .init(purchase: purchase)])
      if empty == 1705 {
        #expect(try AppReceipt(decoding: forged.bytes()).inApp.map(\.originalTransactionID) == ["1"])
      } else {
        #expect(decodingFailure { _ = try AppReceipt(decoding: forged.bytes()) }?.reason == .missing)
      }
    }
  }

  @Test func `A joined value beyond 64 KiB is refused`() {
    let forged = ForgedAppReceipt(attributes: [
      .init(2, .utf8("b")), .init(99, raw: Array(repeating: 7, count: 70_000)),
    ])
    let error = decodingFailure { _ = try AppReceipt(decoding: forged.bytes(.berThroughout(pieces: 2))) }
    #expect(error?.reason == .tooLarge)
    #expect(decodingFailure { _ = try AppReceipt(decoding: forged.bytes(.ber(pieces: 2))) } == nil)
  }

  @Test func `Lengths with leading zeros, texts in pieces and values of the wrong kind are handled`() throws {
    let long = ForgedAppReceipt(attributes: [.init(2, raw: [0x0C, 0x83, 0x00, 0x00, 0x01, 0x62])])
    #expect(try AppReceipt(decoding: long.bytes()).bundleID == "b")
    let parts = DERNode.indefinite(0x2C, [.primitive(0x04, [0x62]), .primitive(0x04, [0x63])])
    let pieces = ForgedAppReceipt(attributes: [.init(2, parts)])
    #expect(try AppReceipt(decoding: pieces.bytes()).bundleID == "bc")
    for raw: [UInt8] in [
      [], [0x0C], [0x0C, 0x01], [0x0C, 0x80], [0x0C, 0x01, 0x62, 0x00], [0x1F, 0x81], [0x1F, 0x01, 0x00],
      [0x0C, 0xFF], [0x2C, 0x80, 0x04, 0x01], [0x2C, 0x03, 0x0C, 0x01, 0x62], [0x02, 0x01, 0x62],
    ] {
      let wrong = ForgedAppReceipt(attributes: [.init(2, raw: raw)])
      #expect(decodingFailure { _ = try AppReceipt(decoding: wrong.bytes()) } != nil, "\(raw)")
    }
  }
}
