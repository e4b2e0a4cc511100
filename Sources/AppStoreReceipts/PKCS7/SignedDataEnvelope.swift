/// The content of a PKCS #7 or CMS signed message (RFC 5652, 5.1). **The signature is not verified.**
///
/// StoreFacts b.1: `ContentInfo { signedData, [0] SignedData { version, digests, { data, [0] OCTET STRING }, … } }`,
/// in DER from the App Store, in BER with indefinite lengths and a constructed string from Xcode.
struct SignedDataEnvelope {
  /// Reads the content. A content in one piece is read from the input; a content in several pieces is joined.
  var content: DERReader
  /// The range of the content in `content`.
  var range: Range<Int>

  /// 1.2.840.113549.1.7.2 and .1 without tag and length.
  private static let signedData: [UInt8] = [0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 0x01, 0x07, 0x02]
  private static let data: [UInt8] = [0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 0x01, 0x07, 0x01]

  /// Reads up to the content and then to the end, so that a message that is cut off after the content is
  /// detected. Bytes after the message are ignored, as the App Store's server does (StoreFacts a.1).
  init(_ bytes: [UInt8]) throws(ReceiptDecodingError) {
    var reader = DERReader(bytes)
    let outermost = try reader.header(limit: bytes.count)
    guard outermost.identifier == DERTag.sequence else {
      throw reader.failure("a SEQUENCE, as a PKCS #7 message is", insteadOf: outermost)
    }
    let message = reader.enter(outermost, limit: bytes.count)
    try reader.expect(Self.signedData, in: message, "the identifier of signed data")
    let explicit = try reader.open(in: message, DERTag.context0, "signed data in [0]")
    let signed = try reader.open(in: explicit, DERTag.sequence, "signed data")
    let version = try reader.next(in: signed, DERTag.integer, "the version of signed data")
    try reader.skip(version, limit: signed.limit)
    let digests = try reader.next(in: signed, DERTag.set, "the SET of digest algorithms")
    try reader.skip(digests, limit: signed.limit)
    let encapsulated = try reader.open(in: signed, DERTag.sequence, "the content")
    try reader.expect(Self.data, in: encapsulated, "the identifier of plain data")
    let wrapper = try reader.open(in: encapsulated, DERTag.context0, "the content in [0]")
    guard let string = try reader.next(in: wrapper) else {
      throw reader.failure("the content", at: reader.position, .missing)
    }
    guard string.identifier & ~DERTag.constructed == DERTag.octetString else {
      throw reader.failure("the content as an OCTET STRING", insteadOf: string)
    }
    // Pieces are joined at most once and cannot be longer than the input.
    let octets = try reader.octets(of: string, limit: wrapper.limit, joining: bytes.count)
    for container in [wrapper, encapsulated, signed, explicit, message] { try reader.leave(container) }
    switch octets {
    case .range(let range):
      content = DERReader(bytes, position: range.lowerBound)
      self.range = range
    case .joined(let joined):
      content = DERReader(joined, part: "the joined content")
      range = joined.indices
    }
  }
}

extension DERReader {
  fileprivate mutating func open(
    in container: DERContainer, _ identifier: UInt8, _ name: String
  ) throws(ReceiptDecodingError) -> DERContainer {
    enter(try next(in: container, identifier, name), limit: container.limit)
  }

  fileprivate mutating func expect(
    _ identifier: [UInt8], in container: DERContainer, _ name: String
  ) throws(ReceiptDecodingError) {
    let header = try next(in: container, DERTag.objectIdentifier, name)
    let content = takeContent(of: header, limit: container.limit)
    guard bytes[content].elementsEqual(identifier) else { throw failure(name, at: header.start) }
  }
}
