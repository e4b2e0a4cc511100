// libFuzzer calls this with one input after another; `Tests/Fuzz/run transaction-receipt` compiles and starts it.

import AppStoreReceipts

/// Decodes the input as a receipt, and once more as the inner list of one.
@c(LLVMFuzzerTestOneInput)
public func fuzzTransactionReceipt(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  let bytes = unsafe Array(UnsafeBufferPointer(start: start, count: count))
  decode(bytes)
  let digits = Array("0123456789abcdef".utf8)
  var text = Array("{purchase-info=<".utf8)
  for octet in bytes {
    text.append(digits[Int(octet >> 4)])
    text.append(digits[Int(octet & 0x0F)])
  }
  text += Array(">}".utf8)
  decode(text)
  return 0
}

private func decode(_ bytes: [UInt8]) {
  do throws(ReceiptDecodingError) {
    let receipt = try TransactionReceipt(decoding: bytes)
    precondition(receipt.unknownFields.count <= 256 && receipt.unknownOuterFields.count <= 256)
    precondition(!receipt.transactionID.isEmpty && receipt.transactionID.utf8.count <= 3 * bytes.count)
    precondition(receipt == receipt)
  } catch {
    precondition(error.offset ?? 0 <= bytes.count && !error.expected.isEmpty && !error.location.isEmpty)
  }
}
