import AppStoreReceipts
import PurchaseSyncTesting
import Testing

@Suite struct AppReceiptTests {
  static let forms: [ForgedAppReceipt.Form] = [
    .der, .ber(pieces: 1), .ber(pieces: 3), .ber(pieces: 1_000), .berThroughout(pieces: 1),
    .berThroughout(pieces: 4),
  ]

  private static var subscription: ForgedPurchase {
    var purchase = ForgedPurchase(
      transactionID: "1000000181298734", originalTransactionID: "1000000180636226", productID: "yearly.é")
    purchase.quantity = 10
    purchase.originalPurchaseDate = "2023-12-31T23:59:59Z"
    purchase.expiresDate = "2025-01-02T03:04:05+0100"
    purchase.cancellationDate = "2024-03-01T00:00:00.304Z"
    purchase.webOrderLineItemID = 576_460_752_303_423_487
    purchase.productType = 3
    purchase.isTrialPeriod = true
    purchase.isInIntroOfferPeriod = true
    purchase.promotionalOfferID = "winback"
    return purchase
  }

  @Test(arguments: forms)
  func `Every field is read back from every form`(form: ForgedAppReceipt.Form) throws {
    let coins = ForgedPurchase(transactionID: "2", productID: "coins")
    var forged = ForgedAppReceipt(bundleID: "com.example.app", purchases: [Self.subscription, coins])
    forged.attributes += [
      .init(21, .ia5("4001-01-01T00:00:00Z")), .init(9999, raw: [0xFF, 0x00]), .init(25, .integer(3)),
    ]
    let receipt = try AppReceipt(decoding: forged.bytes(form))
    #expect(receipt.bundleID == "com.example.app")
    #expect(receipt.bundleIDBytes == [0x0C, 15] + Array("com.example.app".utf8))
    #expect(receipt.applicationVersion == "42" && receipt.originalApplicationVersion == "1.0")
    #expect(receipt.environment == .sandbox && receipt.receiptType == "ProductionSandbox")
    #expect(receipt.opaqueValue == Array(0..<16) && receipt.sha1Hash == Array(100..<120))
    #expect(receipt.receiptCreationDate == 1_704_164_645_000)
    #expect(receipt.originalPurchaseDate == 1_375_340_400_000)
    #expect(receipt.expirationDate == 64_092_211_200_000)
    #expect(receipt.appID == 0 && receipt.downloadID == 0 && receipt.versionExternalID == 0)
    #expect(receipt.unknownAttributes.map(\.type) == [8, 20, 11, 10, 7, 6, 9999, 25])
    #expect(receipt.unknownAttributes[9999] == [0xFF, 0x00] && receipt.unknownAttributes[25] == [2, 1, 3])
    try check(try #require(receipt.inApp.first))
    #expect(receipt.inApp.map(\.transactionID) == ["1000000181298734", "2"])
    #expect(receipt.inApp[1].originalTransactionID == "2")
    #expect(receipt.inApp[1].expiresDate == nil && receipt.inApp[1].cancellationDate == nil)
    #expect(receipt.inApp[1].webOrderLineItemID == nil && receipt.inApp[1].isTrialPeriod == false)
  }

  private func check(_ purchase: InAppPurchase) throws {
    #expect(purchase.originalTransactionID == "1000000180636226")
    #expect(purchase.productID == "yearly.é" && purchase.quantity == 10 && purchase.productType == 3)
    #expect(purchase.purchaseDate == 1_704_164_645_000)
    #expect(purchase.originalPurchaseDate == 1_704_067_199_000)
    #expect(purchase.expiresDate == 1_735_783_445_000)
    #expect(purchase.cancellationDate == 1_709_251_200_304)
    #expect(purchase.webOrderLineItemID == 576_460_752_303_423_487)
    #expect(purchase.isTrialPeriod == true && purchase.isInIntroOfferPeriod == true)
    #expect(purchase.promotionalOfferID == "winback")
    #expect(purchase.unknownAttributes.map(\.type) == [1709, 1710, 1714])
    #expect(purchase.unknownAttributes[1710] == [2, 1, 0])
  }

  @Test func `The order of purchases is kept, and purchases with equal ids are both listed`() throws {
    let purchases = ["3", "1", "2", "1"].map { ForgedPurchase(transactionID: $0, productID: "p" + $0) }
    let bytes = ForgedAppReceipt(bundleID: "b", purchases: purchases).bytes()
    #expect(try AppReceipt(decoding: bytes).inApp.map(\.transactionID) == ["3", "1", "2", "1"])
  }

  @Test func `A receipt without purchases and a receipt with only a bundle id are valid`() throws {
    #expect(try AppReceipt(decoding: ForgedAppReceipt(bundleID: "b").bytes()).inApp.isEmpty)
    let smallest = ForgedAppReceipt(attributes: [.init(2, .ia5("b"))])
    let receipt = try AppReceipt(decoding: smallest.bytes())
    #expect(receipt.bundleID == "b" && receipt.environment == nil && receipt.unknownAttributes.isEmpty)
  }

  @Test func `If an attribute occurs twice, the first counts and the second is kept`() throws {
    var forged = ForgedAppReceipt(bundleID: "first")
    forged.attributes.append(.init(2, .utf8("second")))
    var purchase = ForgedPurchase(transactionID: "1", productID: "p").attributes
    purchase.append(.init(1703, .utf8("2")))
    forged.attributes.append(.init(purchase: purchase))
    let receipt = try AppReceipt(decoding: forged.bytes())
    #expect(receipt.bundleID == "first" && receipt.inApp.map(\.transactionID) == ["1"])
    #expect(receipt.unknownAttributes[2] == DERNode.utf8("second").encoded())
    #expect(receipt.inApp[0].unknownAttributes[1703] == DERNode.utf8("2").encoded())
  }

  @Test func `An undocumented attribute with an unexpected value is kept`() throws {
    var forged = ForgedAppReceipt(attributes: [.init(2, .utf8("b"))])
    for type: Int64 in [0, 1, 15, 16, 18, -1, .max, .min] {
      forged.attributes.append(.init(type, raw: [0xFF, 0xFF]))
    }
    var purchase = ForgedPurchase(transactionID: "1", productID: "p").attributes
    purchase.removeAll { $0.type == 1713 || $0.type == 1707 || $0.type == 1719 }
    purchase += [.init(1713, .integer(2)), .init(1707, .utf8("x")), .init(1719, .integer(-1))]
    purchase += [.init(17, raw: [1]), .init(2, raw: [2])]
    forged.attributes.append(.init(purchase: purchase))
    let receipt = try AppReceipt(decoding: forged.bytes())
    #expect(receipt.unknownAttributes.map(\.type) == [0, 1, 15, 16, 18, -1, .max, .min])
    #expect(receipt.unknownAttributes.allSatisfy { $0.value == [0xFF, 0xFF] && $0.version == 1 })
    let kept = receipt.inApp[0].unknownAttributes.map(\.type)
    #expect(kept == [1709, 1710, 1714, 1713, 1707, 1719, 17, 2])
    #expect(receipt.inApp[0].isTrialPeriod == nil && receipt.inApp[0].isInIntroOfferPeriod == nil)
  }

  @Test func `Bytes after the message are ignored`() throws {
    for form in Self.forms {
      let bytes = ForgedAppReceipt(bundleID: "b").bytes(form)
      #expect(try AppReceipt(decoding: bytes + [0, 1, 2]) == AppReceipt(decoding: bytes))
    }
  }

  @Test(arguments: [
    ("Production", StoreEnvironment.production), ("ProductionVPP", .production),
    ("ProductionSandbox", .sandbox), ("ProductionVPPSandbox", .sandbox), ("Xcode", .xcode),
    ("Moon", StoreEnvironment(rawValue: "Moon")),
  ])
  func `The receipt type gives the environment`(type: String, environment: StoreEnvironment) throws {
    let bytes = ForgedAppReceipt(bundleID: "b", receiptType: type).bytes()
    #expect(try AppReceipt(decoding: bytes).environment == environment)
  }

  @Test(arguments: [
    ("/var/mobile/Containers/Data/Application/X/StoreKit/sandboxReceipt", StoreEnvironment.sandbox),
    ("/private/var/X/StoreKit/receipt", .production), ("sandboxReceipt", .sandbox),
    ("/Users/sandbox/A.app/Contents/_MASReceipt/receipt", nil), ("", nil), ("/receipt", nil),
    ("/a/sandboxReceipt/other", nil),
  ])
  func `The receipt's path gives the environment, if it is known`(
    path: String, environment: StoreEnvironment?
  ) {
    #expect(StoreEnvironment(receiptPath: path) == environment)
  }
}

@Suite struct ReceiptDateTests {
  private func date(_ text: String) throws -> Int64? {
    let bytes = ForgedAppReceipt(attributes: [.init(2, .utf8("b")), .init(12, .ia5(text))]).bytes()
    return try AppReceipt(decoding: bytes).receiptCreationDate
  }

  @Test(
    arguments: [
      ("1970-01-01T00:00:00Z", 0), ("1969-12-31T23:59:59Z", -1_000),
      ("2000-02-29T12:00:00Z", 951_825_600_000),
      ("2024-02-29T23:59:59z", 1_709_251_199_000), ("0000-03-01T00:00:00Z", -62_162_035_200_000),
      ("0000-01-01T00:00:00Z", -62_167_219_200_000), ("9999-12-31T23:59:59Z", 253_402_300_799_000),
      ("2020-07-22T18:33:15+0100", 1_595_439_195_000), ("2020-07-22T18:33:15+01:00", 1_595_439_195_000),
      ("2020-07-22T18:33:15-0730", 1_595_469_795_000), ("1970-01-01t00:00:00.5Z", 500),
      ("1970-01-01T00:00:00.304999999999Z", 304), ("2016-12-31T23:59:60Z", 1_483_228_800_000),
    ] as [(String, Int64)])
  func `A date is parsed by its digits`(text: String, milliseconds: Int64) throws {
    #expect(try date(text) == milliseconds)
  }

  @Test func `An empty date becomes nil`() throws {
    #expect(try date("") == nil)
  }

  @Test(arguments: [
    "2024", "2024-02-30T00:00:00Z", "2023-02-29T00:00:00Z", "1900-02-29T00:00:00Z", "2024-13-01T00:00:00Z",
    "2024-00-01T00:00:00Z", "2024-01-00T00:00:00Z", "2024-04-31T00:00:00Z", "2024-01-01T24:00:00Z",
    "2024-01-01T00:60:00Z", "2024-01-01T00:00:61Z", "2024-01-01T00:00:00", "2024-01-01 00:00:00Z",
    "2024-01-01T00:00:00.Z", "2024-01-01T00:00:00Z ", " 2024-01-01T00:00:00Z", "2024-01-01T00:00:00+1",
    "2024-01-01T00:00:00+25:00", "-024-01-01T00:00:00Z", "20240101T000000Z", "2024-01-01T00:00:00ZZ",
    "１970-01-01T00:00:00Z", "2024-01-01T00:00:00+01:", " ",
  ])
  func `Any other text is refused`(text: String) {
    let error = decodingFailure { _ = try date(text) }
    #expect(error?.location.hasSuffix("attribute 12") == true && error?.reason == .malformed)
  }
}
