/// An operation of the disk that fails.
package struct DiskFault: Sendable, Hashable {
  package enum Kind: String, Sendable, CaseIterable {
    /// The device fails.
    case ioError = "ioerr"
    /// The disk is full: only operations that need space fail.
    case full
  }

  package var kind: Kind
  /// Which one, from 1, counted among those that can fail so, from when the fault was set.
  package var ordinal: Int
  /// Whether all behind it fail as well.
  package var lasts: Bool

  package init(_ kind: Kind, at ordinal: Int, lasts: Bool) {
    self.kind = kind
    self.ordinal = ordinal
    self.lasts = lasts
  }

  /// Its kind and number, with `-on` between them if all behind it fail too: `ioerr19`, `full-on1`.
  package var text: String { "\(kind.rawValue)\(lasts ? Self.onward : "")\(ordinal)" }

  /// Nil if it is not such a text.
  package init?(text: some StringProtocol) {
    for kind in Kind.allCases {
      for mark in [Self.onward, ""] {
        let prefix = kind.rawValue + mark
        guard text.hasPrefix(prefix), let ordinal = Int(text.dropFirst(prefix.count)) else { continue }
        self.init(kind, at: ordinal, lasts: !mark.isEmpty)
        return
      }
    }
    return nil
  }

  private static let onward = "-on"
}

/// Counts operations, and says which of them fail.
struct FaultCounter {
  var fault: DiskFault?
  /// Those that can fail for the device.
  private(set) var all = 0
  /// The operations that need space.
  private(set) var takingSpace = 0
  /// How many failed.
  private(set) var failed = 0

  mutating func set(_ new: DiskFault?) {
    self = FaultCounter(fault: new)
  }

  /// Nil if the next operation works.
  mutating func next(takesSpace: Bool) -> DiskFault.Kind? {
    all += 1
    if takesSpace { takingSpace += 1 }
    guard let fault, fault.kind == .ioError || takesSpace else { return nil }
    let ordinal = fault.kind == .full ? takingSpace : all
    guard fault.lasts ? ordinal >= fault.ordinal : ordinal == fault.ordinal else { return nil }
    failed += 1
    return fault.kind
  }
}
