// libFuzzer calls this with one input after another; `Tests/Fuzz/run app-receipt` compiles and starts it.

import AppStoreReceipts

/// Decodes the input; any error is fine. Reading every property of the result must not trap.
@c(LLVMFuzzerTestOneInput)
public func fuzzAppReceipt(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  let bytes = unsafe Array(UnsafeBufferPointer(start: start, count: count))
  do throws(ReceiptDecodingError) {
    let receipt = try AppReceipt(decoding: bytes)
    let kept = receipt.unknownAttributes.reduce(0) { $0 + $1.value.count }
    let inPurchases = receipt.inApp.reduce(0) { sum, purchase in
      purchase.unknownAttributes.reduce(sum) { $0 + $1.value.count }
    }
    // The decoder invents nothing: each kept value occurs in the input.
    precondition(kept + inPurchases <= count && receipt.inApp.count <= count)
    precondition(receipt == receipt && receipt.bundleIDBytes.count <= count)
  } catch {
    precondition(error.offset ?? 0 <= count && !error.expected.isEmpty && !error.location.isEmpty)
  }
  return 0
}
