import AppStoreReceipts

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// Reads any bytes as a JWS, and as the payload of one: transaction, renewal info, app transaction, header. Built
/// together with the files of AppStoreDocuments by `Tests/Fuzz/run`; not a target of the package.
@c(LLVMFuzzerTestOneInput)
public func fuzz(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  let data = unsafe Data(UnsafeBufferPointer(start: start, count: count))
  let text = String(decoding: data, as: UTF8.self)
  // The payload is also read as bytes, because a mutation inside base64 rarely stays base64.
  let wrapped = "e30.\(Base64URL.encode(data)).e30"
  for jws in [text, wrapped] {
    check { () throws(ReceiptDecodingError) in _ = try CompactJWS(jws).decodedHeader }
    check { () throws(ReceiptDecodingError) in _ = try SignedPayloadKind(jws: jws) }
    check { () throws(ReceiptDecodingError) in
      let transaction = try SignedTransaction(jws: jws)
      guard let period = SubscriptionPeriod(transaction) else { return }
      var facts = SubscriptionFacts()
      facts.add(period)
      for now in [Int64.min, period.expiresDate, .max] {
        precondition(SubscriptionStatus.all(in: facts, at: now).count == 1)
      }
    }
    check { () throws(ReceiptDecodingError) in _ = SubscriptionRenewal(try SignedRenewalInfo(jws: jws)) }
    check { () throws(ReceiptDecodingError) in _ = try SignedAppTransaction(jws: jws) }
  }
  check { () throws(ReceiptDecodingError) in _ = try JWSHeader(json: data) }
  return 0
}

private func check(_ body: () throws(ReceiptDecodingError) -> Void) {
  do throws(ReceiptDecodingError) {
    try body()
  } catch {
    precondition(!error.location.isEmpty && !error.expected.isEmpty)
  }
}
