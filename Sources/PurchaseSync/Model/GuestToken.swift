package import Foundation

/// The account token of a guest's payment. It is recognised by itself: after a reinstall, and on another device of the same
/// Apple ID, which know nothing of the payment.
extension UUID {
  /// Its first six bytes.
  private static var mark: [UInt8] { Array("guest:".utf8) }

  /// The token of a guest's payment, with the random bits of another UUID.
  static func guest(from random: UUID) -> UUID {
    let (head, tail) = (mark, random.uuid)
    // Version 8 is for formats of one's own: no random UUID, which has version 4, looks like it.
    return UUID(
      uuid: (
        head[0], head[1], head[2], head[3], head[4], head[5], tail.6 & 0x0F | 0x80, tail.7, tail.8, tail.9,
        tail.10, tail.11, tail.12, tail.13, tail.14, tail.15
      ))
  }

  /// Whether a guest has paid with this token.
  package var isGuest: Bool {
    let bytes = uuid
    let head = [bytes.0, bytes.1, bytes.2, bytes.3, bytes.4, bytes.5]
    return head == Self.mark && bytes.6 >> 4 == 8
  }
}
