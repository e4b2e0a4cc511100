import AppStoreReceipts

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// Reads any bytes as a body of the store, as a notification of either version, and as the payload of a signed one.
/// Built together with the files of AppStoreDocuments by `Tests/Fuzz/run`; not a target of the package.
@c(LLVMFuzzerTestOneInput)
public func fuzz(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  let data = unsafe Data(UnsafeBufferPointer(start: start, count: count))
  check { () throws(ReceiptDecodingError) in
    let facts: SubscriptionFacts
    switch try StoreMessage(json: data) {
    case .request: facts = SubscriptionFacts()
    case .response(let response): facts = SubscriptionFacts(response)
    case .notificationV1(let notification):
      _ = notification.storeEnvironment
      facts = SubscriptionFacts(notification)
    case .notificationV2(let notification): facts = try SubscriptionFacts(notification)
    }
    for now in [Int64.min, 0, .max] { _ = SubscriptionStatus.groups(in: facts, at: now) }
  }
  check { () throws(ReceiptDecodingError) in
    let notification = try ServerNotificationV2(jws: "e30.\(Base64URL.encode(data)).e30")
    _ = (notification.bundleID, notification.environment, notification.description)
    _ = try notification.details?.transaction()
    _ = try notification.details?.renewalInfo()
    _ = try notification.appData?.appTransaction()
  }
  return 0
}

private func check(_ body: () throws(ReceiptDecodingError) -> Void) {
  do throws(ReceiptDecodingError) {
    try body()
  } catch {
    precondition(!error.location.isEmpty && !error.expected.isEmpty)
  }
}
