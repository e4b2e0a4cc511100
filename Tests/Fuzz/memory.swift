import AppStoreReceipts
import Foundation

/// Decodes one generated input and prints the memory that it took beyond the input. `Tests/Fuzz/memory` compiles this
/// together with the files of AppStoreDocuments. It starts it twice for each case, because the system counts the peak of a process.
@main struct Memory {
  /// An input, in the forms that the decoders accept, and the decoder for it.
  struct Case {
    var name: String
    var input: () -> [UInt8]
    var form = Form.data
    var decode: (Input) throws -> Void
  }

  enum Form { case octets, data, text }

  /// Exactly one of them is set.
  struct Input {
    var octets: [UInt8] = []
    var data = Data()
    var text = ""

    init(_ bytes: [UInt8], _ form: Form) {
      switch form {
      case .octets: octets = bytes
      case .data: data = Data(bytes)
      case .text: text = String(decoding: bytes, as: UTF8.self)
      }
    }

    var count: Int { max(octets.count, data.count, text.utf8.count) }
  }

  static func main() throws {
    let arguments = CommandLine.arguments
    guard arguments.count == 4 else {
      print(cases.map(\.name).joined(separator: "\n"))
      return
    }
    guard let subject = cases.first(where: { $0.name == arguments[2] }) else { exit(2) }
    let file = URL(fileURLWithPath: arguments[3])
    // Another process makes the input. In this one, memory that it left on the heap would be used again and not counted.
    if arguments[1] == "make" { return try Data(subject.input()).write(to: file) }
    let input = Input(Array(try Data(contentsOf: file)), subject.form)
    // Resets the peak.
    try Data("5".utf8).write(to: URL(fileURLWithPath: "/proc/self/clear_refs"))
    let before = try peak()
    var outcome = "decoded"
    do {
      try subject.decode(input)
    } catch let error as ReceiptDecodingError {
      outcome = error.reason.rawValue
    }
    let bytes = try peak() - before
    // The allocator's own memory, and the allowance for every text.
    let isWithin = bytes <= 3 * input.count + (9 << 20)
    let ratio = (Double(bytes) / Double(max(1, input.count)) * 100).rounded() / 100
    print("\(isWithin ? "ok  " : "OVER") \(ratio)x of \(input.count) bytes, \(outcome): \(subject.name)")
    exit(isWithin ? 0 : 1)
  }

  /// The highest resident set of this process so far, in bytes.
  private static func peak() throws -> Int {
    let status = try String(contentsOfFile: "/proc/self/status", encoding: .utf8)
    let line = status.split(separator: "\n").first { $0.hasPrefix("VmHWM") }
    return (line?.split(separator: " ").compactMap { Int($0) }.first ?? 0) * 1_024
  }

  private static let size = 8_000_000

  private static var cases: [Case] {
    answers + hostileAnswers + signed + binary + documents
  }

  private static func text(_ before: String, _ unit: String, _ after: String) -> [UInt8] {
    Array((before + String(repeating: unit, count: size / unit.utf8.count) + after).utf8)
  }

  private static func answer(_ input: Input) throws {
    _ = try VerifyReceiptResponse(json: input.data)
  }

  private static func dates(_ name: String) -> String {
    #""\#(name)":"2019-08-21 08:49:19 Etc/GMT","\#(name)_ms":"1566377359000","#
      + #""\#(name)_pst":"2019-08-21 01:49:19 America/Los_Angeles","#
  }

  /// Spelled as the store spells them (StoreFacts a.5).
  private static var entry: String {
    #"{"quantity":"1","product_id":"com.example.monthly","transaction_id":"230000609391139000","#
      + #""original_transaction_id":"230000609391139000","web_order_line_item_id":"230000243264881000","#
      + dates("purchase_date") + dates("original_purchase_date") + dates("expires_date")
      + #""is_trial_period":"false","is_in_intro_offer_period":"false"},"#
  }

  private static var answers: [Case] {
    [
      Case(
        name: "verifyReceipt, entries",
        input: {
          text(#"{"status":0,"receipt":{"in_app":["#, entry, #"{"transaction_id":"1","product_id":"p"}]}}"#)
        },
        decode: answer),
      Case(
        name: "verifyReceipt, a long latest_receipt",
        input: { text(#"{"status":0,"latest_receipt":""#, "MIIT", #""}"#) }, decode: answer),
      Case(
        name: "verifyReceipt request",
        input: { text(#"{"receipt-data":""#, #"MII\/"#, #""}"#) },
        decode: { _ = try VerifyReceiptRequest(json: $0.data) }),
      Case(
        name: "notification 1, entries",
        input: {
          text(
            #"{"notification_type":"DID_RENEW","unified_receipt":{"latest_receipt_info":["#, entry,
            #"{"transaction_id":"1","product_id":"p"}]}}"#)
        },
        decode: { _ = try StoreMessage(json: $0.data) }),
    ]
  }

  private static var hostileAnswers: [Case] {
    [
      ("small entries", #"{"latest_receipt_info":["#, #"{"transaction_id":"1","product_id":"p"},"#, "{}]}"),
      ("small renewals", #"{"pending_renewal_info":["#, "{},", "{}]}"),
      ("unknown numbers", #"{"x":["#, "0,", "0]}"), ("unknown objects", #"{"x":["#, #"{"a":1},"#, "0]}"),
      ("unknown arrays", #"{"x":["#, "[0],", "0]}"), ("unknown strings", #"{"x":["#, "\"\",", "0]}"),
      ("escapes", #"{"exception":""#, #"\n"#, #""}"#), ("members", "{", #""a":1,"#, #""b":1}"#),
      ("unknown members", #"{"x":{"#, #""a":1,"#, #""b":1}}"#), ("digits", #"{"status":"#, "1", "}"),
      ("levels", #"{"x":"#, "[", "}"), ("white space", "{", " ", "}"), ("zeros", "", "\0", ""),
    ].map { name, before, unit, after in
      Case(name: "verifyReceipt, \(name)", input: { text(before, unit, after) }, decode: answer)
    }
  }

  private static func jws(_ payload: [UInt8]) -> [UInt8] {
    Array("e30.\(Base64URL.encode(Data(payload))).AAAA".utf8)
  }

  private static var signed: [Case] {
    let transaction = #"{"transactionId":"1","productId":"p","purchaseDate":1,"x":"#
    return [
      Case(
        name: "signed transaction, a long unknown text",
        input: { jws(text(transaction + "\"", "abc", #""}"#)) }, form: .text,
        decode: { _ = try SignedTransaction(jws: $0.text) }),
      Case(
        name: "signed transaction, unknown numbers", input: { jws(text(transaction + "[", "0,", "0]}")) },
        form: .text,
        decode: { _ = try SignedTransaction(jws: $0.text) }),
      Case(
        name: "signed renewal info, offers",
        input: { jws(text(#"{"eligibleWinBackOfferIds":["#, "\"\",", "\"\"]}")) }, form: .text,
        decode: { _ = try SignedRenewalInfo(jws: $0.text) }),
      Case(
        name: "signed app transaction, members", input: { jws(text("{", #""a":0,"#, #""b":0}"#)) },
        form: .text,
        decode: { _ = try SignedAppTransaction(jws: $0.text) }),
      Case(
        name: "JWS, dots", input: { text("", ".", "") }, form: .text,
        decode: { _ = try CompactJWS($0.text) }),
      Case(
        name: "notification 2, a long transaction",
        input: {
          let payload = text(
            #"{"notificationType":"TEST","data":{"signedTransactionInfo":""#, "abcd", #""}}"#)
          return Array(#"{"signedPayload":""#.utf8) + jws(payload) + Array(#""}"#.utf8)
        }, decode: { _ = try StoreMessage(json: $0.data) }),
    ]
  }

  /// An app receipt with so many attributes that it has about two million bytes. The forge is too slow for more.
  private static func receipt(
    _ name: String, _ form: ForgedAppReceipt.Form, _ attribute: @escaping (Int) -> ForgedAppReceipt.Attribute
  ) -> Case {
    Case(
      name: "app receipt, \(name)",
      input: {
        var forged = ForgedAppReceipt(attributes: [.init(2, .utf8("b"))])
        let one =
          ForgedAppReceipt(attributes: [attribute(0)]).bytes().count
          - ForgedAppReceipt(attributes: []).bytes().count
        forged.attributes += (0..<2_000_000 / one).map(attribute)
        return forged.bytes(form)
      }, form: .octets, decode: { _ = try AppReceipt(decoding: $0.octets) })
  }

  private static var binary: [Case] {
    [
      receipt("purchases", .der) { index in
        var purchase = ForgedPurchase(
          transactionID: "1000000123\(456_789 + index)", productID: "com.example.subscription.monthly")
        purchase.originalTransactionID = "100000012345678"
        return .init(purchase: purchase.attributes)
      },
      receipt("purchases in pieces", .ber(pieces: 1_000)) { index in
        .init(purchase: ForgedPurchase(transactionID: "\(index)", productID: "p").attributes)
      },
      receipt("small purchases", .der) { _ in
        .init(purchase: [.init(1702, .utf8("p")), .init(1703, .utf8("1"))])
      },
      receipt("small attributes", .der) { .init(Int64(100 + $0 % 100), raw: []) },
      receipt("small attributes in purchases", .der) { _ in
        .init(
          purchase: [.init(1702, .utf8("p")), .init(1703, .utf8("1"))]
            + (0..<50).map { .init(Int64(1_800 + $0), raw: []) })
      },
      Case(
        name: "app receipt, zeros", input: { text("", "\0", "") }, form: .octets,
        decode: { _ = try AppReceipt(decoding: $0.octets) }),
      Case(
        name: "transaction receipt, text",
        input: { Array(text("{a=\"", "abcd", "\";}").prefix(TransactionReceipt.maximumByteCount)) },
        form: .octets,
        decode: { _ = try TransactionReceipt(decoding: $0.octets) }),
      Case(
        name: "transaction receipt, XML",
        input: {
          Array(
            text("<plist><dict><key>purchase-info</key><string>", "&#65;", "</string></dict></plist>")
              .suffix(TransactionReceipt.maximumByteCount))
        }, form: .octets,
        decode: { _ = try TransactionReceipt(decoding: $0.octets) }),
    ]
  }

  /// The same through ``StoreDocument``, which also keeps the bytes and lists their transactions.
  private static var documents: [Case] {
    func wrapped(_ bytes: [UInt8]) -> [UInt8] { Array(Data(bytes).base64EncodedData()) }
    func document(_ name: String, _ input: @escaping () -> [UInt8]) -> Case {
      Case(name: "document, \(name)", input: input, form: .octets) {
        _ = try StoreDocument(decoding: $0.octets)
      }
    }
    let list = {
      text(#"{"status":0,"latest_receipt_info":["#, entry, #"{"transaction_id":"1","product_id":"p"}]}"#)
    }
    return [
      document("entries", list), document("entries in base64") { wrapped(list()) },
      document("purchases in base64") {
        wrapped(
          ForgedAppReceipt(
            bundleID: "b",
            purchases: (0..<5_000).map { index in
              var purchase = ForgedPurchase(
                transactionID: "1000000123\(456_789 + index)", productID: "com.example.subscription.monthly")
              purchase.originalTransactionID = "100000012345678"
              purchase.expiresDate = "2024-02-02T03:04:05Z"
              return purchase
            }
          ).bytes())
      },
      document("zeros") { text("", "\0", "") }, document("letters") { text("", "abcd", "") },
      document("JWS in a list") { text(#"{"signedTransactions":["#, #""a.b.c","#, #""a.b.c"]}"#) },
      document("small strings in a list") { text(#"{"signedTransactions":["#, "\"\",", "\"\"]}") },
    ]
  }
}
