import AppStoreReceipts
import PurchaseSyncTesting
import Testing

@Suite struct TransactionReceiptTests {
  private static let info: [ForgedTransactionReceipt.Field] = [
    .init("transaction-id", "1000000181298734"), .init("original-transaction-id", "1000000180636226"),
    .init("product-id", "year\"ly\\ & <é💶>"), .init("quantity", "3"), .init("bid", "com.example.app"),
    .init("bvrs", "1.2"), .init("item-id", "1028950797"), .init("app-item-id", "5"),
    .init("version-external-identifier", "6"), .init("unique-identifier", "dd0e"),
    .init("unique-vendor-identifier", "4E5E1A3B"), .init("web-order-line-item-id", "9007199254740993"),
    .init("purchase-date-ms", "1447821281123"), .init("purchase-date", "2015-11-18 04:34:41 Etc/GMT"),
    .init("original-purchase-date", "2015-11-17 16:34:41 Etc/GMT"), .init("expires-date", "1448346881000"),
    .init("cancellation-date", "2015-11-19 00:00:00 Etc/GMT"), .init("is-trial-period", "true"),
    .init("is-in-intro-offer-period", "0"), .init("subscription-group-identifier", "77"),
    .init("purchase-date-pst", "2015-11-17 20:34:41 America/Los_Angeles"), .init("new-field", "x"),
  ]

  @Test(arguments: ForgedTransactionReceipt.Form.allCases)
  func `Every field is read back from every kind of list`(form: ForgedTransactionReceipt.Form) throws {
    let forged = ForgedTransactionReceipt(
      purchaseInfo: Self.info,
      outer: [
        .init("signature", "AQID"), .init("environment", "Sandbox"), .init("pod", "100"),
        .init("signing-status", "0"), .init("more", "y"),
      ])
    let receipt = try TransactionReceipt(decoding: forged.bytes(form))
    #expect(receipt.environment == .sandbox && receipt.signature == [1, 2, 3])
    #expect(receipt.pod == "100" && receipt.signingStatus == "0")
    #expect(receipt.transactionID == "1000000181298734" && receipt.quantity == 3)
    #expect(receipt.originalTransactionID == "1000000180636226")
    #expect(receipt.productID == "year\"ly\\ & <é💶>")
    #expect(receipt.bundleID == "com.example.app" && receipt.bundleVersion == "1.2")
    #expect(receipt.itemID == "1028950797" && receipt.appItemID == "5")
    #expect(receipt.versionExternalID == "6" && receipt.uniqueID == "dd0e")
    #expect(receipt.uniqueVendorID == "4E5E1A3B")
    #expect(receipt.webOrderLineItemID == "9007199254740993")
    #expect(receipt.purchaseDate == 1_447_821_281_123)
    #expect(receipt.originalPurchaseDate == 1_447_778_081_000)
    #expect(receipt.expiresDate == 1_448_346_881_000 && receipt.cancellationDate == 1_447_891_200_000)
    #expect(receipt.isTrialPeriod == true && receipt.isInIntroOfferPeriod == false)
    #expect(receipt.subscriptionGroupID == "77")
    #expect(receipt.unknownFields.map(\.key) == ["purchase-date", "purchase-date-pst", "new-field"])
    #expect(receipt.unknownOuterFields == [ReceiptField(key: "more", value: .text("y"))])
  }

  @Test func `A receipt without an environment is production's`() throws {
    let forged = ForgedTransactionReceipt(
      bundleID: "b", transactionID: "1", productID: "p", environment: nil)
    #expect(try TransactionReceipt(decoding: forged.bytes()).environment == .production)
  }

  @Test func `The smallest receipt has a transaction id`() throws {
    let forged = ForgedTransactionReceipt(purchaseInfo: [.init("transaction-id", "33")], outer: [])
    let receipt = try TransactionReceipt(decoding: forged.bytes())
    #expect(receipt == TransactionReceipt(transactionID: "33"))
  }

  /// The given inner list, in base64 inside an outer list.
  private func decode(_ info: String) throws -> TransactionReceipt {
    let inner = ForgedTransactionReceipt.base64(Array(info.utf8))
    return try TransactionReceipt(decoding: Array("{purchase-info=\"\(inner)\"}".utf8))
  }

  @Test func `NeXTSTEP text is read in every spelling`() throws {
    let receipt = try decode(
      """
      \u{FEFF}  // A comment
      { transaction-id = 12; /* another; } */ 'product-id' = 'a"b';
        a="\\a\\b\\f\\n\\r\\t\\v\\\\\\"\\101\\U00e9\\Ud83d\\UdcB6";
        b = <00 fF
      10>; c = ( 1, ")", { d = "}"; } ); e = {}; "bid"=x_y$/z:0.-1 }

      """)
    #expect(receipt.transactionID == "12" && receipt.productID == "a\"b")
    #expect(receipt.bundleID == "x_y$/z:0.-1")
    #expect(
      receipt.unknownFields == [
        ReceiptField(key: "a", value: .text("\u{7}\u{8}\u{C}\n\r\t\u{B}\\\"Aé\u{1F4B6}")),
        ReceiptField(key: "b", value: .data([0x00, 0xFF, 0x10])),
        ReceiptField(key: "c", value: .other(Array("( 1, \")\", { d = \"}\"; } )".utf8))),
        ReceiptField(key: "e", value: .other(Array("{}".utf8))),
      ])
  }

  @Test func `XML is read with everything that a dictionary of texts can have`() throws {
    let receipt = try decode(
      """
      <?xml version="1.0"?><!DOCTYPE plist PUBLIC "x" "y"><!-- <plist> --><plist version="1.0"><dict>
      <key>transaction-id</key><integer>12</integer><key>is-trial-period</key><true/>
      <key>a&amp;&#x62;&#99;</key><string>&lt;&gt;<![CDATA[<&]]>&quot;&apos;</string>
      <key>d</key><data> AQ
      ID </data><key>e</key><array><array/><array><string>]</string></array></array><key>f</key><string/>
      <key>g</key><date>2015-11-18T04:34:41Z</date></dict></plist>
      """)
    #expect(receipt.transactionID == "12" && receipt.isTrialPeriod == true)
    #expect(
      receipt.unknownFields == [
        ReceiptField(key: "a&bc", value: .text("<><&\"'")), ReceiptField(key: "d", value: .data([1, 2, 3])),
        ReceiptField(
          key: "e", value: .other(Array("<array><array/><array><string>]</string></array></array>".utf8))),
        ReceiptField(key: "f", value: .text("")),
        ReceiptField(key: "g", value: .text("2015-11-18T04:34:41Z")),
      ])
  }

  @Test func `If a key occurs twice, the first counts, and an empty text counts as absent`() throws {
    let receipt = try decode(
      "{transaction-id=1;transaction-id=2;bid=\"\";quantity=\"\";expires-date=\"\";is-trial-period=maybe}")
    #expect(receipt.transactionID == "1" && receipt.quantity == 1)
    #expect(receipt.bundleID == nil && receipt.expiresDate == nil && receipt.isTrialPeriod == nil)
    #expect(receipt.unknownFields.map(\.key) == ["transaction-id", "is-trial-period"])
  }

  @Test func `Purchase info is read as data and as base64 with line breaks`() throws {
    let info = ForgedTransactionReceipt.base64(Array("{transaction-id=1}".utf8))
    let xml = "<plist><dict><key>purchase-info</key><data>\(info)</data></dict></plist>"
    #expect(try TransactionReceipt(decoding: Array(xml.utf8)).transactionID == "1")
    let wrapped = info.prefix(8) + "\r\n\t" + info.dropFirst(8)
    #expect(
      try TransactionReceipt(decoding: Array("{purchase-info=\"\(wrapped)\"}".utf8)).transactionID == "1")
  }
}
