import Foundation

/// Writes the app receipt of an Apple ID: a real one but for its signature, which no device checks.
enum EngineReceipt {
  private static let signedData: [UInt8] = [0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 0x01, 0x07, 0x02]
  private static let data: [UInt8] = [0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 0x01, 0x07, 0x01]

  static func bytes(of sales: [Int], in store: LeanStore) -> [UInt8] {
    let attributes =
      [attribute(2, text(0x0C, "example.app"))]
      + sales.map { attribute(17, element(0x31, purchase($0, store.sales[$0]))) }
    let content = element(0xA0, [element(0x04, [element(0x31, attributes)])])
    let signed = element(
      0x30, [integer(1), element(0x31, []), element(0x30, [element(0x06, [data]), content])])
    return element(0x30, [element(0x06, [signedData]), element(0xA0, [signed])])
  }

  private static func purchase(_ number: Int, _ sale: LeanStore.Sale) -> [[UInt8]] {
    var attributes = [
      attribute(1_701, integer(sale.units)), attribute(1_702, text(0x0C, sale.productID)),
      attribute(1_703, text(0x0C, Names.id(number))), attribute(1_704, moment(sale.paidAt)),
      attribute(1_705, text(0x0C, Names.id(sale.original))),
    ]
    if let revoked = sale.revokedAt { attributes.append(attribute(1_712, moment(revoked))) }
    return attributes
  }

  private static func attribute(_ type: Int, _ value: [UInt8]) -> [UInt8] {
    element(0x30, [integer(type), integer(1), element(0x04, [value])])
  }

  /// To the second, as the store writes it.
  private static func moment(_ milliseconds: Int64) -> [UInt8] {
    text(0x16, Date(timeIntervalSince1970: Double(milliseconds / 1_000)).formatted(.iso8601))
  }

  private static func text(_ identifier: UInt8, _ text: String) -> [UInt8] {
    element(identifier, [Array(text.utf8)])
  }

  /// From 0 to 0x7FFF.
  private static func integer(_ value: Int) -> [UInt8] {
    element(0x02, [value < 0x80 ? [UInt8(value)] : [UInt8(value >> 8), UInt8(value & 0xFF)]])
  }

  private static func element(_ identifier: UInt8, _ parts: [[UInt8]]) -> [UInt8] {
    let content = parts.flatMap { $0 }
    let count = content.count
    if count < 0x80 { return [identifier, UInt8(count)] + content }
    return [identifier, 0x82, UInt8(count >> 8 & 0xFF), UInt8(count & 0xFF)] + content
  }
}
