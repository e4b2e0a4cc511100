import PurchaseSQLite

/// Encodes the name of an item, which is any text, as a file name of at most 255 bytes.
package enum VaultFileName {
  /// With the suffix and `.tmp`, the name stays below 255 bytes.
  private static let longest = 200

  /// Letters, digits, dots and dashes stay; every other byte becomes `%` and two digits.
  package static func encode(_ name: String) -> String {
    var encoded = ""
    for byte in name.utf8 {
      switch byte {
      case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
        UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "."), UInt8(ascii: "-"):
        encoded.unicodeScalars.append(Unicode.Scalar(byte))
      default:
        let digits = String(byte, radix: 16)
        encoded += "%" + (digits.count == 1 ? "0" : "") + digits
      }
    }
    return encoded
  }

  package static func decode(_ text: Substring) -> String {
    var bytes: [UInt8] = []
    var rest = text.utf8[...]
    while let byte = rest.popFirst() {
      if byte == UInt8(ascii: "%"),
        let value = UInt8(String(decoding: rest.prefix(2), as: UTF8.self), radix: 16)
      {
        rest = rest.dropFirst(2)
        bytes.append(value)
      } else {
        bytes.append(byte)
      }
    }
    return String(decoding: bytes, as: UTF8.self)
  }

  /// The name itself, or for a long name its beginning and its checksum.
  static func short(_ name: String) -> String {
    guard encode(name).utf8.count > longest else { return name }
    let number = UInt64(bitPattern: Checksum.of(Array(name.utf8)))
    var start = ""
    // Measured as a file name, where one character can take twelve bytes.
    for scalar in name.unicodeScalars {
      guard encode(start).utf8.count + 3 * UTF8.width(scalar) <= longest / 2 else { break }
      start.unicodeScalars.append(scalar)
    }
    return start + "~" + String(number, radix: 16)
  }
}
