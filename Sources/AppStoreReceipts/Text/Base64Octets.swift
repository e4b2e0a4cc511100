/// Decodes base64 (RFC 4648) from bytes to bytes.
enum Base64Octets {
  /// The alphabet and its rules.
  enum Alphabet {
    /// `+` and `/`. White space is skipped, because stored receipts have line breaks (StoreFacts pitfall 16).
    /// Padding may be missing.
    case standard
    /// `-` and `_`, without white space and padding (RFC 7515, section 2).
    case url
  }

  /// Nil if there is another character, an impossible length, or a character after the padding.
  static func decode(_ text: some Collection<UInt8>, _ alphabet: Alphabet = .standard) -> [UInt8]? {
    var octets: [UInt8] = []
    octets.reserveCapacity(text.count / 4 * 3 + 2)
    let isURL = alphabet == .url
    var bits: UInt32 = 0
    var count = 0
    var padding = 0
    for octet in text where isURL || !isSpace(octet) {
      if octet == UInt8(ascii: "="), !isURL {
        padding += 1
        continue
      }
      guard padding == 0, let sextet = isURL ? urlSextet(octet) : sextet(octet) else { return nil }
      bits = bits << 6 | UInt32(sextet)
      count += 1
      if count == 4 {
        for shift: UInt32 in [16, 8, 0] { octets.append(UInt8(truncatingIfNeeded: bits >> shift)) }
        bits = 0
        count = 0
      }
    }
    switch (count, padding) {
    case (0, 0): break
    case (2, 0), (2, 2): octets.append(UInt8(truncatingIfNeeded: bits >> 4))
    case (3, 0), (3, 1):
      for shift: UInt32 in [10, 2] { octets.append(UInt8(truncatingIfNeeded: bits >> shift)) }
    default: return nil
    }
    return octets
  }

  /// Whether the byte can be a part of base64 text.
  static func isAllowed(_ octet: UInt8) -> Bool {
    isSpace(octet) || octet == UInt8(ascii: "=") || sextet(octet) != nil
  }

  /// Whether the byte is ASCII white space.
  static func isSpace(_ octet: UInt8) -> Bool { octet == 0x20 || (0x09...0x0D).contains(octet) }

  private static func urlSextet(_ octet: UInt8) -> UInt8? {
    switch octet {
    case UInt8(ascii: "-"): 62
    case UInt8(ascii: "_"): 63
    case UInt8(ascii: "+"), UInt8(ascii: "/"): nil
    default: sextet(octet)
    }
  }

  private static func sextet(_ octet: UInt8) -> UInt8? {
    switch octet {
    case UInt8(ascii: "A")...UInt8(ascii: "Z"): octet - UInt8(ascii: "A")
    case UInt8(ascii: "a")...UInt8(ascii: "z"): octet - UInt8(ascii: "a") + 26
    case UInt8(ascii: "0")...UInt8(ascii: "9"): octet - UInt8(ascii: "0") + 52
    case UInt8(ascii: "+"): 62
    case UInt8(ascii: "/"): 63
    default: nil
    }
  }
}
