// Writes the inputs from which the fuzzers start: a folder `seeds-NAME` for each, in the folder given as argument.
// Compiled together with the forge of PurchaseSyncTesting by `Tests/Fuzz/run`.
import Foundation

@main struct MakeSeeds {
  static func main() throws {
    let arguments = CommandLine.arguments
    guard arguments.count == 2 else {
      print("usage: make-seeds FOLDER")
      exit(2)
    }
    let folder = arguments[1] + "/seeds-"
    try write(appReceipts, to: folder + "app-receipt")
    try write(transactionReceipts, to: folder + "transaction-receipt")
    let texts = JSONSeeds.verifyReceipt + JSONSeeds.signedTransaction + JSONSeeds.notification
    let documents = appReceipts + transactionReceipts + texts.map { Array($0.utf8) }
    try write(documents + documents.map { Array(Data($0).base64EncodedData()) }, to: folder + "document")
    try write(JSONSeeds.verifyReceipt.map { Array($0.utf8) }, to: folder + "verify-receipt")
    try write(JSONSeeds.signedTransaction.map { Array($0.utf8) }, to: folder + "signed-transaction")
    try write(JSONSeeds.notification.map { Array($0.utf8) }, to: folder + "notification")
  }

  private static func write(_ seeds: [[UInt8]], to folder: String) throws {
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    for (index, seed) in seeds.enumerated() where seed.count < 16_384 {
      try Data(seed).write(to: URL(fileURLWithPath: folder + "/seed-\(index)"))
    }
    print("\(folder): \(seeds.count { $0.count < 16_384 }) seeds")
  }

  private static var appReceipts: [[UInt8]] {
    var purchase = ForgedPurchase(transactionID: "1000", originalTransactionID: "999", productID: "yearly")
    purchase.expiresDate = "2025-01-02T03:04:05+0100"
    purchase.cancellationDate = "2024-03-01T00:00:00.304Z"
    purchase.webOrderLineItemID = 576_460_752_303_423_487
    purchase.promotionalOfferID = "winback"
    var small = ForgedAppReceipt(attributes: [.init(2, .utf8("b")), .init(purchase: purchase.attributes)])
    small.signature = [1, 2, 3]
    let full = ForgedAppReceipt(bundleID: "com.example.app", purchases: [purchase, purchase])
    let forms: [ForgedAppReceipt.Form] = [
      .der, .ber(pieces: 1), .ber(pieces: 3), .berThroughout(pieces: 1), .berThroughout(pieces: 2),
    ]
    return [small, full].flatMap { receipt in forms.map { receipt.bytes($0) } }
      + BrokenAppReceipt.allCases.map(\.bytes)
  }

  private static var transactionReceipts: [[UInt8]] {
    var receipt = ForgedTransactionReceipt(
      bundleID: "com.example.app", transactionID: "1000", productID: "year\"ly", expires: 1_448_346_881_000)
    receipt["is-trial-period"] = "true"
    receipt["cancellation-date"] = "2015-11-18 04:34:41 Etc/GMT"
    let texts = [
      "{a=b;/*c*/'d'=\"\\U00e9\\101\\n\";e=<00 ff>;f=(1,{g=h;});purchase-info=\"ew==\"}",
      "<plist><dict><key>a</key><data>AAEC</data><key>b</key><array><true/></array>"
        + "<key>c&#xe9;&amp;</key><string><![CDATA[x]]></string><key>d</key><integer>5</integer></dict></plist>",
    ]
    return ForgedTransactionReceipt.Form.allCases.flatMap { form in
      [receipt.bytes(form), ForgedTransactionReceipt.list(receipt.purchaseInfo, form)]
    } + texts.map { Array($0.utf8) }
  }
}
