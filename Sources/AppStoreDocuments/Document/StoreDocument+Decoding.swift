public import AppStoreReceipts

#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

extension StoreDocument {
  /// Recognises and decodes a string.
  public init(decoding text: String) throws(ReceiptDecodingError) {
    try self.init(decoding: Array(text.utf8))
  }

  /// Recognises and decodes data.
  public init(decoding data: Data) throws(ReceiptDecodingError) {
    try self.init(decoding: Array(data))
  }

  /// Recognises and decodes bytes. Throws if they are none of the kinds, or if that kind's decoder throws.
  /// Offsets in wrapped bytes count from the start of the unwrapped bytes; the error says so.
  public init(decoding bytes: [UInt8]) throws(ReceiptDecodingError) {
    try self.init(decoding: bytes, isInner: false)
  }

  init(decoding input: [UInt8], isInner: Bool) throws(ReceiptDecodingError) {
    let document = try DocumentShape.unwrap(input) { (shape, bytes) throws(ReceiptDecodingError) in
      let findings = DocumentFindings()
      return try Self.read(shape, bytes, findings).map { (kind: $0, content: $1, findings: findings) }
    }
    let (kind, content, findings) = document.content
    self.init(
      kind, content, wrappings: document.wrappings, bytes: document.bytes,
      inside: DocumentContents(content, findings.failures, isInner: isInner), unknownMembers: findings.unknown
    )
  }

  /// Nil if the shape is a wrapping.
  private static func read(
    _ shape: DocumentShape, _ bytes: [UInt8], _ findings: DocumentFindings
  ) throws(ReceiptDecodingError) -> (Kind, Content)? {
    switch shape {
    case .asn1: return (.appReceipt, .appReceipt(try AppReceipt(decoding: bytes)))
    case .propertyList:
      return (.transactionReceipt, .transactionReceipt(try TransactionReceipt(decoding: bytes)))
    case .jws: return try JSONDocument(jws: bytes, findings).readSigned()
    case .jsonObject: return try JSONDocument(bytes, findings).read()
    case .jsonString, .base64: return nil
    }
  }
}
