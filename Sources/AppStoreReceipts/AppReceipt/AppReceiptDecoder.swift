/// Builds the model from the attributes.
struct AppReceiptDecoder {
  private var reader: DERReader
  /// The bytes of memory that the decoded value may still take.
  private var budget: Int

  /// The limit is three times the receipt's bytes and 64 KiB. A joined content is a copy and counts.
  init(_ envelope: SignedDataEnvelope, inputCount: Int) {
    reader = envelope.content
    budget = 3 * inputCount - (reader.part == nil ? 0 : envelope.range.count) + 65_536
  }

  /// The payload: a SET of attributes.
  mutating func receipt(_ range: Range<Int>) throws(ReceiptDecodingError) -> AppReceipt {
    let (set, tally) = try open(range, .ofReceipt, "the SET of the receipt's attributes")
    try charge(tally.purchases * MemoryLayout<InAppPurchase>.stride + tally.keptBytes, at: range.lowerBound)
    var receipt = AppReceipt(bundleID: "")
    receipt.inApp.reserveCapacity(tally.purchases)
    receipt.unknownAttributes.reserve(tally.keptBytes)
    var seen = AttributeTypes()
    while let attribute = try reader.attribute(in: set) {
      let end = reader.position
      if attribute.type == AttributeTypes.purchase {
        do throws(ReceiptDecodingError) {
          receipt.inApp.append(try purchase(attribute.value))
        } catch {
          throw error.inside("in-app purchase \(receipt.inApp.count)")
        }
      } else {
        let isFirst = seen.insert(attribute.type)
        let hasProperty = isFirst ? try receipt.take(attribute, from: &reader) : false
        if !hasProperty { receipt.unknownAttributes.append(attribute, of: reader) }
      }
      reader.position = end
    }
    guard !receipt.bundleID.isEmpty else {
      throw reader.failure("a bundle id (attribute 2)", at: range.lowerBound, .missing)
    }
    return receipt
  }

  /// Decodes one value of type 17, which is a SET of attributes as well.
  private mutating func purchase(_ value: DEROctets) throws(ReceiptDecodingError) -> InAppPurchase {
    switch value {
    case .range(let range):
      return try purchase(range)
    case .joined(let joined):
      // While this purchase is read, the reader walks over its joined bytes.
      let outer = reader
      defer { reader = outer }
      reader = DERReader(joined, part: "a joined purchase")
      return try purchase(joined.indices)
    }
  }

  private mutating func purchase(_ range: Range<Int>) throws(ReceiptDecodingError) -> InAppPurchase {
    let (set, tally) = try open(range, .ofPurchase, "the SET of the purchase's attributes")
    if tally.keptBytes > 0 { try charge(tally.keptBytes + Self.heapOverhead, at: range.lowerBound) }
    var purchase = InAppPurchase(transactionID: "", productID: "")
    purchase.unknownAttributes.reserve(tally.keptBytes)
    var seen = AttributeTypes()
    while let attribute = try reader.attribute(in: set) {
      let end = reader.position
      let isFirst = seen.insert(attribute.type)
      let hasProperty = isFirst ? try purchase.take(attribute, from: &reader) : false
      if !hasProperty { purchase.unknownAttributes.append(attribute, of: reader) }
      reader.position = end
    }
    guard !purchase.transactionID.isEmpty else {
      throw reader.failure("a transaction id (attribute 1703)", at: range.lowerBound, .missing)
    }
    guard !purchase.productID.isEmpty else {
      throw reader.failure("a product id (attribute 1702)", at: range.lowerBound, .missing)
    }
    // Without attribute 1705 the original id is the same string, which takes no more memory.
    let original = purchase.originalTransactionID
    if original.isEmpty { purchase.originalTransactionID = purchase.transactionID }
    for text in [purchase.transactionID, original, purchase.productID, purchase.promotionalOfferID ?? ""] {
      // A string of up to 15 bytes needs no memory on the heap.
      if text.utf8.count > 15 { try charge(text.utf8.count + Self.heapOverhead, at: range.lowerBound) }
    }
    return purchase
  }

  /// Bytes that an object on the heap takes beyond its content.
  private static let heapOverhead = 48

  /// Enters a SET that fills the range, and counts its content before memory is allocated for it.
  private mutating func open(
    _ range: Range<Int>, _ properties: AttributeTypes, _ name: String
  ) throws(ReceiptDecodingError) -> (DERContainer, AttributeTally) {
    reader.position = range.lowerBound
    let header = try reader.header(limit: range.upperBound)
    guard header.identifier == DERTag.set else { throw reader.failure(name, insteadOf: header) }
    let set = reader.enter(header, limit: range.upperBound)
    let tally = try AttributeTally(set, properties: properties, &reader)
    guard reader.position == range.upperBound else {
      throw reader.failure("nothing after the SET", at: reader.position)
    }
    reader.position = header.contentStart
    return (set, tally)
  }

  private mutating func charge(_ count: Int, at offset: Int) throws(ReceiptDecodingError) {
    guard count <= budget else {
      throw reader.failure(
        "content that takes at most three times the receipt's bytes in memory", at: offset, .tooLarge)
    }
    budget -= count
  }
}
