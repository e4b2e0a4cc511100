package import Foundation
import PurchaseQueue

extension UploadRequest {
  /// The request's JSON body. It has the same meaning as the `Codable` form, which costs ten times as much:
  /// an encoder inspects each character of a proof. Nil and absent are equal on the wire, so nil is left out.
  package func json() -> Data {
    let bytes = proofs.reduce(0) { $0 + $1.data.utf8.count + 64 }
    var writer = JSONObjectWriter(capacity: 512 * (claims.count + 1) + bytes)
    writer.open("{")
    writer.string("device", device.uuidString)
    if !proofs.isEmpty {
      writer.key("proofs")
      writer.open("[")
      for proof in proofs {
        writer.element()
        writer.open("{")
        writer.string("kind", proof.kind.rawValue)
        writer.string("data", proof.data)
        writer.close("}")
      }
      writer.close("]")
    }
    writer.key("claims")
    writer.open("[")
    for claim in claims { claim.write(to: &writer) }
    writer.close("]")
    writer.close("}")
    return Data(writer.bytes)
  }
}

extension Claim {
  fileprivate func write(to writer: inout JSONObjectWriter) {
    writer.element()
    writer.open("{")
    writer.string("transactionID", transactionID)
    if let originalTransactionID { writer.string("originalTransactionID", originalTransactionID) }
    writer.string("environment", environment)
    writer.string("productID", productID)
    writer.literal("quantity", "\(quantity)")
    writer.literal("purchasedAt", "\(purchasedAt.milliseconds)")
    writer.string("match", match.rawValue)
    if let orderNumber { writer.string("orderNumber", orderNumber) }
    if let candidates {
      writer.key("candidates")
      writer.open("[")
      for candidate in candidates {
        writer.element()
        writer.text(candidate)
      }
      writer.close("]")
    }
    if let evidence { writer.string("evidence", evidence) }
    if let unverified { writer.literal("unverified", unverified ? "true" : "false") }
    if let proof { writer.literal("proof", "\(proof)") }
    if let order {
      writer.key("order")
      order.write(to: &writer)
    }
    writer.close("}")
  }
}

extension DeviceOrder {
  fileprivate func write(to writer: inout JSONObjectWriter) {
    writer.open("{")
    writer.string("number", number)
    writer.string("accountToken", accountToken.uuidString)
    writer.string("account", account)
    writer.string("productID", productID)
    writer.literal("quantity", "\(quantity)")
    writer.string("state", state.rawValue)
    writer.literal("createdAt", "\(createdAt.milliseconds)")
    writer.close("}")
  }
}

/// Writes JSON (RFC 8259) from left to right. It writes the commas; the caller matches the brackets.
private struct JSONObjectWriter {
  private(set) var bytes: [UInt8] = []
  private var isFirst = true

  init(capacity: Int) { bytes.reserveCapacity(capacity) }

  mutating func open(_ bracket: Unicode.Scalar) {
    bytes.append(UInt8(ascii: bracket))
    isFirst = true
  }

  mutating func close(_ bracket: Unicode.Scalar) {
    bytes.append(UInt8(ascii: bracket))
    isFirst = false
  }

  /// Call before each element of a list.
  mutating func element() {
    if !isFirst { bytes.append(0x2C) }
    isFirst = false
  }

  /// Call before the value of a member. The protocol's names need no escaping.
  mutating func key(_ name: String) {
    element()
    bytes.append(0x22)
    bytes += name.utf8
    bytes += [0x22, 0x3A]
  }

  mutating func string(_ name: String, _ value: String) {
    key(name)
    text(value)
  }

  /// A number or a truth value.
  mutating func literal(_ name: String, _ value: String) {
    key(name)
    bytes += value.utf8
  }

  mutating func text(_ value: String) {
    let octets = Array(value.utf8)
    bytes.append(0x22)
    if Self.isPlain(octets) { bytes += octets } else { escape(octets) }
    bytes.append(0x22)
  }

  // One pass without branches: a proof is long and never needs escaping.
  private static func isPlain(_ octets: [UInt8]) -> Bool {
    var special: UInt8 = 0
    for octet in octets {
      special |= (octet < 0x20 ? 1 : 0) | (octet == 0x22 ? 1 : 0) | (octet == 0x5C ? 1 : 0)
    }
    return special == 0
  }

  private mutating func escape(_ octets: [UInt8]) {
    let digits = Array("0123456789abcdef".utf8)
    for octet in octets {
      switch octet {
      case 0x22, 0x5C: bytes += [0x5C, octet]
      case 0..<0x20: bytes += Array("\\u00".utf8) + [digits[Int(octet >> 4)], digits[Int(octet & 15)]]
      default: bytes.append(octet)
      }
    }
  }
}
