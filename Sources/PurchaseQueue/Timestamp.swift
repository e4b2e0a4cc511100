/// A moment by the wall clock: milliseconds since 1970.
///
/// Clocks of devices jump; nothing here reads one. Every moment comes in as an argument.
public struct Timestamp: Hashable, Comparable, Sendable, Codable, CustomStringConvertible {
  /// Milliseconds since 1970, UTC.
  public var milliseconds: Int64

  /// A moment so many milliseconds after 1970.
  public init(milliseconds: Int64) { self.milliseconds = milliseconds }

  /// From a bare number, as the wire protocol has it.
  public init(from decoder: any Decoder) throws {
    milliseconds = try decoder.singleValueContainer().decode(Int64.self)
  }

  /// As a bare number.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(milliseconds)
  }

  /// Earlier is smaller.
  public static func < (left: Timestamp, right: Timestamp) -> Bool { left.milliseconds < right.milliseconds }

  /// The moment so many milliseconds later. Saturates instead of overflowing.
  public func adding(milliseconds delta: Int64) -> Timestamp {
    let (sum, overflow) = milliseconds.addingReportingOverflow(delta)
    guard overflow else { return Timestamp(milliseconds: sum) }
    return Timestamp(milliseconds: delta > 0 ? .max : .min)
  }

  /// The milliseconds as text.
  public var description: String { "\(milliseconds) ms" }
}
