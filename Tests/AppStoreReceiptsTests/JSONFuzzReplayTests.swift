import AppStoreReceipts
import Foundation
import Testing

/// Decodes the inputs again that a fuzzer of the JSON decoders has found. A trap ends the test run.
@Suite struct JSONFuzzReplayTests {
  @Test(arguments: ["verify-receipt", "signed-transaction", "notification"])
  func `No input that the fuzzer found traps`(name: String) throws {
    let tests = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    let folder = tests.appendingPathComponent("Fuzz/Crashes/\(name)").path
    // Empty if the fuzzer has found nothing.
    guard FileManager.default.fileExists(atPath: folder) else { return }
    for file in try FileManager.default.contentsOfDirectory(atPath: folder) {
      let data = try Data(contentsOf: URL(fileURLWithPath: folder + "/" + file))
      let jws = "e30.\(Base64URL.encode(data)).e30"
      for attempt: () throws -> Void in [
        { _ = try SubscriptionFacts(VerifyReceiptResponse(json: data)) },
        { _ = try StoreMessage(json: data) },
        { _ = try SignedTransaction(jws: jws) }, { _ = try SignedRenewalInfo(jws: jws) },
        { _ = try SignedAppTransaction(jws: jws) },
        { _ = try SubscriptionFacts(ServerNotificationV2(jws: jws)) },
      ] {
        _ = decodingFailure(attempt)
      }
    }
  }
}
