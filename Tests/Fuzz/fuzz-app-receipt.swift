// libFuzzer calls this with one input after the other; `Tests/Fuzz/run app-receipt` compiles and starts it.

/// Decodes; any error will do. What decodes must also survive being looked at.
@c(LLVMFuzzerTestOneInput)
public func fuzzAppReceipt(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  let bytes = unsafe Array(UnsafeBufferPointer(start: start, count: count))
  do throws(ReceiptDecodingError) {
    let receipt = try AppReceipt(decoding: bytes)
    let kept = receipt.unknownAttributes.reduce(0) { $0 + $1.value.count }
    let inPurchases = receipt.inApp.reduce(0) { sum, purchase in
      purchase.unknownAttributes.reduce(sum) { $0 + $1.value.count }
    }
    // Nothing is made up: what is kept was there.
    precondition(kept + inPurchases <= count && receipt.inApp.count <= count)
    precondition(receipt == receipt && receipt.bundleIDBytes.count <= count)
  } catch {
    precondition(error.offset ?? 0 <= count && !error.expected.isEmpty && !error.location.isEmpty)
  }
  return 0
}
