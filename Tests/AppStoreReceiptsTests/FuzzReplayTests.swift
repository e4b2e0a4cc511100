import AppStoreReceipts
import Foundation
import Testing

/// Decodes the inputs again that a fuzzer has found. A trap ends the test run.
@Suite struct FuzzReplayTests {
  private static let folder = URL(fileURLWithPath: #filePath)
    .deletingLastPathComponent().deletingLastPathComponent().appending(path: "Fuzz/Crashes")

  /// Empty if the fuzzer has found nothing.
  private static func inputs(_ name: String) throws -> [[UInt8]] {
    let path = folder.appending(path: name).path
    guard FileManager.default.fileExists(atPath: path) else { return [] }
    return try FileManager.default.contentsOfDirectory(atPath: path)
      .map { [UInt8](try Data(contentsOf: URL(fileURLWithPath: path + "/" + $0))) }
  }

  @Test func `The folder of crash inputs exists`() {
    #expect(FileManager.default.fileExists(atPath: Self.folder.appending(path: "README.md").path))
  }

  @Test func `App receipts`() throws {
    for input in try Self.inputs("app-receipt") {
      _ = decodingFailure { _ = try AppReceipt(decoding: input) }
    }
  }

  @Test func `Transaction receipts`() throws {
    for input in try Self.inputs("transaction-receipt") {
      _ = decodingFailure { _ = try TransactionReceipt(decoding: input) }
      let list = Array("{purchase-info=<".utf8) + input.flatMap(Self.hexadecimal) + Array(">}".utf8)
      _ = decodingFailure { _ = try TransactionReceipt(decoding: list) }
    }
  }

  @Test func `Documents`() throws {
    for input in try Self.inputs("document") {
      _ = decodingFailure { _ = try StoreDocument(decoding: input) }
    }
  }

  private static func hexadecimal(_ octet: UInt8) -> [UInt8] {
    let digits = Array("0123456789abcdef".utf8)
    return [digits[Int(octet >> 4)], digits[Int(octet & 0x0F)]]
  }
}
