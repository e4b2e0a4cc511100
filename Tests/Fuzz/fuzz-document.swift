// libFuzzer calls this with one input after another; `Tests/Fuzz/run document` compiles and starts it.

import AppStoreReceipts

/// Recognises and decodes the input; any error is fine. The innermost document must decode to the same alone.
@c(LLVMFuzzerTestOneInput)
public func fuzzDocument(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  let bytes = unsafe Array(UnsafeBufferPointer(start: start, count: count))
  do throws(ReceiptDecodingError) {
    let document = try StoreDocument(decoding: bytes)
    _ = SubscriptionStatus.all(in: document.subscriptionFacts, at: 1_700_000_000_000)
    let bare = try StoreDocument(decoding: document.bytes)
    precondition(bare.kind == document.kind && bare.transactions == document.transactions)
    precondition(bare.wrappings.isEmpty && document.bytes.count <= count)
  } catch {
    precondition(error.offset ?? 0 <= count && !error.expected.isEmpty && !error.location.isEmpty)
  }
  return 0
}
