/// A model whose properties are set from attributes.
protocol AttributeProperties {
  /// Sets the property of a type that Apple documents; false if there is none.
  mutating func takeDocumented(
    _ type: Int64, _ range: Range<Int>, _ reader: inout DERReader
  ) throws(ReceiptDecodingError) -> Bool
  /// Sets the property of a type that Apple does not document; false if there is none, or if the value is not
  /// of the expected kind.
  mutating func takeUndocumented(
    _ type: Int64, _ range: Range<Int>, _ reader: inout DERReader
  ) throws(ReceiptDecodingError) -> Bool
}

extension AttributeProperties {
  /// Whether the attribute set a property. Undocumented attributes may change at any time: a value of another
  /// kind is no error, and the attribute stays unknown.
  mutating func take(
    _ attribute: DERAttribute, from reader: inout DERReader
  ) throws(ReceiptDecodingError) -> Bool {
    switch attribute.value {
    case .range(let range):
      return try take(attribute.type, range, &reader)
    case .joined(let joined):
      var inner = DERReader(joined, part: "a joined value")
      return try take(attribute.type, joined.indices, &inner)
    }
  }

  private mutating func take(
    _ type: Int64, _ range: Range<Int>, _ reader: inout DERReader
  ) throws(ReceiptDecodingError) -> Bool {
    do throws(ReceiptDecodingError) {
      if try takeDocumented(type, range, &reader) { return true }
    } catch {
      throw error.inside("attribute \(type)")
    }
    do throws(ReceiptDecodingError) {
      return try takeUndocumented(type, range, &reader)
    } catch {
      return false
    }
  }
}

extension AppReceipt: AttributeProperties {
  mutating func takeDocumented(
    _ type: Int64, _ range: Range<Int>, _ reader: inout DERReader
  ) throws(ReceiptDecodingError) -> Bool {
    switch type {
    case 2:
      bundleID = try reader.textValue(range)
      bundleIDBytes = Array(reader.bytes[range])
    case 3: applicationVersion = try reader.textValue(range)
    case 4: opaqueValue = Array(reader.bytes[range])
    case 5: sha1Hash = Array(reader.bytes[range])
    case 12: receiptCreationDate = try reader.dateValue(range)
    case 19: originalApplicationVersion = try reader.textValue(range)
    case 21: expirationDate = try reader.dateValue(range)
    default: return false
    }
    return true
  }

  mutating func takeUndocumented(
    _ type: Int64, _ range: Range<Int>, _ reader: inout DERReader
  ) throws(ReceiptDecodingError) -> Bool {
    switch type {
    case 0: receiptType = try reader.textValue(range)
    case 1: appID = try reader.integerValue(range)
    case 15: downloadID = try reader.integerValue(range)
    case 16: versionExternalID = try reader.integerValue(range)
    case 18: originalPurchaseDate = try reader.dateValue(range)
    default: return false
    }
    return true
  }
}

extension InAppPurchase: AttributeProperties {
  mutating func takeDocumented(
    _ type: Int64, _ range: Range<Int>, _ reader: inout DERReader
  ) throws(ReceiptDecodingError) -> Bool {
    switch type {
    case 1701:
      guard let value = Int(exactly: try reader.integerValue(range)) else {
        throw reader.failure("a quantity", at: range.lowerBound)
      }
      quantity = value
    case 1702: productID = try reader.textValue(range)
    case 1703: transactionID = try reader.textValue(range)
    case 1704: purchaseDate = try reader.dateValue(range)
    case 1705: originalTransactionID = try reader.textValue(range)
    case 1706: originalPurchaseDate = try reader.dateValue(range)
    case 1708: expiresDate = try reader.dateValue(range)
    case 1711:
      let value = try reader.integerValue(range)
      webOrderLineItemID = value == 0 ? nil : value
    case 1712: cancellationDate = try reader.dateValue(range)
    case 1719:
      // Documented as 0 or 1 only by verifyReceipt's names. Another number has no known meaning.
      guard let flag = try reader.flagValue(range) else { return false }
      isInIntroOfferPeriod = flag
    default: return false
    }
    return true
  }

  mutating func takeUndocumented(
    _ type: Int64, _ range: Range<Int>, _ reader: inout DERReader
  ) throws(ReceiptDecodingError) -> Bool {
    switch type {
    case 1707: productType = try reader.integerValue(range)
    case 1713:
      guard let flag = try reader.flagValue(range) else { return false }
      isTrialPeriod = flag
    case 1721: promotionalOfferID = try reader.textValue(range)
    default: return false
    }
    return true
  }
}

extension DERReader {
  /// An INTEGER of 0 or 1; nil for other values.
  fileprivate mutating func flagValue(_ range: Range<Int>) throws(ReceiptDecodingError) -> Bool? {
    switch try integerValue(range) {
    case 0: false
    case 1: true
    default: nil
    }
  }
}
