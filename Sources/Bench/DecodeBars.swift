import AppStoreDocuments
import AppStoreReceipts
import Foundation
import PurchaseSyncTesting

/// `bench decode`: app receipts and answers of `verifyReceipt`, of 10, 1,000 and 10,000 in-app entries.
enum DecodeBars {
  /// The numbers of the bars.
  static let bars = [1, 2, 3]
  static let lengths = [10, 1_000, 10_000]

  /// A kind of document, how to make one of any length, and how the library decodes it.
  private struct Subject {
    var name: String
    var make: (Int) -> [UInt8]
    /// Returns how many transactions it found.
    var decode: ([UInt8]) throws -> Int
  }

  static func measure(
    _ options: BenchOptions, _ child: BenchChild, _ report: (BenchSection) -> Void
  ) throws {
    if options.wants(1, 2) { report(try speed(options.plan)) }
    guard options.wants(3) else { return }
    let disk = try Workbench(below: options.directory, name: ".bench", child)
    defer { disk.remove() }
    report(try memory(disk))
  }

  private static var subjects: [Subject] {
    [
      Subject(name: "app receipt", make: receipt) { try AppReceipt(decoding: $0).inApp.count },
      Subject(name: "verifyReceipt answer", make: answer) {
        try VerifyReceiptResponse(json: Data($0)).latestTransactions.count
      },
    ]
  }

  static func speed(_ plan: BenchPlan) throws -> BenchSection {
    var section = BenchSection(title: "decoding, in processor time")
    for (index, subject) in subjects.enumerated() {
      let inputs = lengths.map(subject.make)
      var perByte = lengths.map { _ in [Double]() }
      // The lengths take turns, so that a busy moment of the machine affects all of them.
      for _ in 0..<plan.repetitions {
        for (place, input) in inputs.enumerated() {
          let rounds = max(1, 8_000_000 / input.count)
          let milliseconds = try ProcessorTime.milliseconds {
            for _ in 0..<rounds {
              guard try subject.decode(input) == lengths[place] else {
                throw BenchError.noSamples("\(subject.name): a wrong number of transactions")
              }
            }
          }
          perByte[place].append(milliseconds / 1_000 / Double(rounds * input.count))
        }
      }
      for (place, input) in inputs.enumerated() {
        let seconds = try Statistics.median(perByte[place])
        section.notes.append(line(subject.name, lengths[place], input.count, secondsPerByte: seconds))
      }
      guard index == 0 else { continue }
      section.bars += try self.bars(perByte, what: subject.name)
    }
    return section
  }

  private static func bars(_ perByte: [[Double]], what: String) throws -> [Bar] {
    let rates = perByte[2].map { 1e-6 / $0 }
    let growth = try Statistics.ratios(perByte[2], to: perByte[1])
    return [
      try .median(1, "\(what), 10,000 entries, MB per second", rates, .atLeast(100), .count),
      try .times(2, "\(what), time per byte at 10,000 / at 1,000 entries", growth, .atMost(1.25)),
    ]
  }

  private static func line(_ name: String, _ length: Int, _ bytes: Int, secondsPerByte: Double) -> String {
    let megabytes = 1e-6 / secondsPerByte
    let transactions = Double(length) / (secondsPerByte * Double(bytes))
    return BenchText.left("\(name), \(length) entries", 38) + BenchText.right("\(bytes) bytes", 16)
      + BenchText.right(BenchText.fixed(megabytes, 1) + " MB/s", 14)
      + BenchText.right(BenchText.fixed(transactions, 0) + " transactions/s", 26)
  }

  /// Bar 3: peak memory of a child that decodes, beyond one that only reads the file.
  static func memory(_ workbench: Workbench) throws -> BenchSection {
    var section = BenchSection(title: "peak memory of a process that decodes")
    let input = receipt(10_000)
    let what = "decoding 10,000 entries / the receipt's bytes"
    let peaks: (read: Double, decode: Double)? = try workbench.scratch { directory in
      let path = directory + "/receipt"
      try Data(input).write(to: URL(fileURLWithPath: path))
      guard let read = try workbench.child.kilobytes(["read", "--path", path]),
        let decode = try workbench.child.kilobytes(["decode", "--path", path])
      else { return nil }
      return (read, decode)
    }
    section.bars = [
      Bar(
        number: 3, what: what, measured: peaks.map { ($0.decode - $0.read) * 1_024 / Double(input.count) },
        bound: .atMost(3), reason: peaks == nil ? "the system has no /proc/self/status" : nil)
    ]
    return section
  }

  private static func receipt(_ length: Int) -> [UInt8] {
    let purchases = (0..<length).map { index in
      var purchase = ForgedPurchase(
        transactionID: "1000000\(100_000 + index)", productID: "com.example.subscription.monthly")
      purchase.originalTransactionID = "1000000100000"
      purchase.expiresDate = "2024-02-02T03:04:05Z"
      return purchase
    }
    return ForgedAppReceipt(bundleID: "com.example.app", purchases: purchases).bytes()
  }

  private static func answer(_ length: Int) -> [UInt8] {
    let items: [JSONValue] = (0..<length).map { index in
      [
        "transaction_id": .string("1000000\(100_000 + index)"), "original_transaction_id": "1000000100000",
        "product_id": "com.example.subscription.monthly", "quantity": "1",
        "purchase_date_ms": "1704164645000", "expires_date_ms": "1706843045000", "is_trial_period": "false",
      ]
    }
    let answer: JSONValue = ["status": 0, "environment": "Production", "latest_receipt_info": .array(items)]
    return Array(answer.data)
  }
}
