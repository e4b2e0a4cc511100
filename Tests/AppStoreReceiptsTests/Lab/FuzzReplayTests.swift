import AppStoreDocuments
import AppStoreReceipts
import Foundation
import Testing

/// Decodes the inputs of `Tests/Fuzz/Crashes` again: those that a fuzzer has left, and those that the project keeps. A
/// trap ends the test run.
@Suite struct FuzzReplayTests {
  /// A folder of inputs, and the decoders that read them. Each has at least the inputs of the project.
  enum Folder: String, CaseIterable {
    case appReceipt = "app-receipt"
    case transactionReceipt = "transaction-receipt"
    case document
    case verifyReceipt = "verify-receipt"
    case signedTransaction = "signed-transaction"
    case notification

    /// The decoder whose result the name of an input states.
    func decode(_ input: [UInt8]) throws {
      switch self {
      case .appReceipt: _ = try AppReceipt(decoding: input)
      case .transactionReceipt: _ = try TransactionReceipt(decoding: input)
      case .document:
        let document = try StoreDocument(decoding: input)
        _ = SubscriptionStatus.groups(in: document.subscriptionFacts, at: 0)
      case .verifyReceipt: _ = try SubscriptionFacts(VerifyReceiptResponse(json: Data(input)))
      case .signedTransaction: _ = try SignedTransaction(jws: jws(input))
      case .notification: _ = try ServerNotificationV2(jws: jws(input))
      }
    }

    /// Other decoders that meet the same bytes.
    func decodeOtherwise(_ input: [UInt8]) -> [() throws -> Void] {
      let document: () throws -> Void = { _ = try StoreDocument(decoding: input) }
      switch self {
      case .appReceipt, .document: return [document]
      case .transactionReceipt:
        let digits = input.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
        return [
          document, { _ = try TransactionReceipt(decoding: Array("{purchase-info=<\(digits)>}".utf8)) },
        ]
      case .verifyReceipt, .signedTransaction, .notification:
        let (data, jws) = (Data(input), jws(input))
        return [
          document, { _ = try StoreDocument(decoding: jws) },
          { _ = try SubscriptionFacts(VerifyReceiptResponse(json: data)) },
          { _ = try StoreMessage(json: data) },
          { _ = try SignedTransaction(jws: jws) }, { _ = try SignedRenewalInfo(jws: jws) },
          { _ = try SignedAppTransaction(jws: jws) },
          { _ = try SubscriptionFacts(ServerNotificationV2(jws: jws)) },
        ]
      }
    }

    private func jws(_ payload: [UInt8]) -> String { "e30.\(Base64URL.encode(Data(payload))).e30" }

    func inputs() throws -> [(name: String, bytes: [UInt8])] {
      let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().appendingPathComponent("Fuzz/Crashes/\(rawValue)")
      return try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted().map {
        ($0, [UInt8](try Data(contentsOf: folder.appendingPathComponent($0))))
      }
    }
  }

  @Test(arguments: Folder.allCases)
  func `Each input is decoded or refused as its name states`(folder: Folder) throws {
    let inputs = try folder.inputs()
    #expect(inputs.count { $0.name.contains(".") } >= 5)
    for (name, bytes) in inputs {
      let error = decodingFailure { try folder.decode(bytes) }
      #expect(error.map { !$0.location.isEmpty && !$0.expected.isEmpty } ?? true, "\(name)")
      // A fuzzer's own input has no ending.
      guard name.contains("."), let ending = name.split(separator: ".").last else { continue }
      #expect(error?.reason.rawValue ?? "read" == ending, "\(name): \(error.map { "\($0)" } ?? "read")")
    }
  }

  @Test(arguments: Folder.allCases)
  func `No other decoder traps on an input, and no error shows a part of it`(folder: Folder) throws {
    for (name, bytes) in try folder.inputs() {
      let start = String(decoding: bytes.prefix(24), as: UTF8.self)
      for attempt in folder.decodeOtherwise(bytes) {
        guard let error = decodingFailure(attempt) else { continue }
        #expect(!error.expected.isEmpty, "\(name)")
        #expect(start.utf8.count < 24 || !error.description.contains(start), "\(name)")
      }
    }
  }
}
