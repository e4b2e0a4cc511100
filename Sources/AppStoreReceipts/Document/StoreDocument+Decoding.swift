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
    do throws(ReceiptDecodingError) {
      try self.init(layers: input, isInner: isInner)
    } catch {
      throw Self.lostPlus(input, isInner: isInner) ?? error
    }
  }

  /// The error that says where `+` is missing, if the bytes are a document with `+` in place of their spaces.
  private static func lostPlus(_ input: [UInt8], isInner: Bool) -> ReceiptDecodingError? {
    guard input.count <= maximumByteCount else { return nil }
    let text = DocumentShape.base64.trimmed(input)
    guard let place = ForeignText.firstLostPlus(text) else { return nil }
    do throws(ReceiptDecodingError) {
      _ = try Self(layers: text.map { $0 == 0x20 ? UInt8(ascii: "+") : $0 }, isInner: isInner)
      return ReceiptDecodingError(
        expected: "base64",
        found: "spaces in place of +, as the decoder of a form leaves them: send + as %2B",
        location: "byte \(place)", offset: place)
    } catch {
      return nil
    }
  }

  private init(layers input: [UInt8], isInner: Bool) throws(ReceiptDecodingError) {
    guard input.count <= Self.maximumByteCount else {
      throw ReceiptDecodingError(
        expected: "at most \(Self.maximumByteCount) bytes, not \(input.count)", location: "start",
        reason: .tooLarge)
    }
    var bytes = input
    var wrappings: [Wrapping] = []
    do throws(ReceiptDecodingError) {
      while true {
        let shape = try DocumentShape(bytes)
        if case .jws = shape { bytes = shape.joined(bytes) }
        let findings = JSONFindings()
        if let (kind, content) = try Self.read(shape, bytes, findings) {
          let inside = DocumentContents(content, findings.failures, isInner: isInner)
          self.init(
            kind, content, wrappings: wrappings, bytes: bytes, inside: inside,
            unknownMembers: findings.unknown)
          return
        }
        guard wrappings.count < Self.maximumWrappings else {
          throw ReceiptDecodingError(
            expected: "at most \(Self.maximumWrappings) wrappings around a document", location: "start",
            reason: .tooDeep)
        }
        let (wrapping, inner) = try shape.unwrap(bytes)
        wrappings.append(wrapping)
        bytes = inner
      }
    } catch {
      guard !wrappings.isEmpty else { throw error }
      var error = error.inside("in the bytes inside of " + wrappings.map(\.rawValue).joined(separator: ", "))
      error.offset = nil
      throw error
    }
  }

  /// Nil if the shape is a wrapping.
  private static func read(
    _ shape: DocumentShape, _ bytes: [UInt8], _ findings: JSONFindings
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
