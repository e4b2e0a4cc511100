import AppStoreReceipts

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// Reads any bytes as a response of `verifyReceipt`, a request to it, or plain JSON. Built together with the
/// files of AppStoreDocuments by `Tests/Fuzz/run`; not a target of the package.
@c(LLVMFuzzerTestOneInput)
public func fuzz(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  let data = unsafe Data(UnsafeBufferPointer(start: start, count: count))
  do throws(ReceiptDecodingError) {
    let value = try JSONValue(json: data)
    // A value that is written and read again is equal.
    guard try JSONValue(json: value.data) == value else { preconditionFailure("another value") }
  } catch {
    precondition(!error.location.isEmpty && !error.expected.isEmpty)
  }
  do throws(ReceiptDecodingError) {
    let response = try VerifyReceiptResponse(json: data)
    _ = response.action
    let facts = SubscriptionFacts(response)
    for now in [Int64.min, 0, 1_566_377_359_000, .max] {
      for status in SubscriptionStatus.all(in: facts, at: now) {
        precondition((status.entitledUntil == nil) != (status.endedAt == nil))
        precondition(status.entitledUntil.map { $0 > now } ?? true)
      }
      _ = SubscriptionStatus.groups(in: facts, at: now)
    }
  } catch {
    precondition(!error.location.isEmpty)
  }
  do throws(ReceiptDecodingError) {
    let request = try VerifyReceiptRequest(json: data)
    guard try VerifyReceiptRequest(json: request.json) == request else {
      preconditionFailure("another request")
    }
  } catch {
    precondition(!error.location.isEmpty)
  }
  return 0
}
