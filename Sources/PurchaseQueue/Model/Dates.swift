#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

// The public surface has dates. Inside, a moment is a whole number of milliseconds, which compares and adds exactly.

extension Timestamp {
  /// The nearest millisecond. A date too far away becomes the first or the last moment.
  package init(_ date: Date) {
    let milliseconds = (date.timeIntervalSince1970 * 1_000).rounded()
    guard !milliseconds.isNaN else {
      self.init(milliseconds: 0)
      return
    }
    self.init(milliseconds: Int64(exactly: milliseconds) ?? (milliseconds < 0 ? .min : .max))
  }

  /// The moment as a date.
  package var date: Date { Date(timeIntervalSince1970: Double(milliseconds) / 1_000) }
}

extension Entry {
  /// When it was first queued on this installation.
  public var enqueueDate: Date { enqueuedAt.date }
  /// When the last attempt began; nil before the first.
  public var attemptDate: Date? { attemptedAt?.date }
  /// The entry is not sent before this moment; nil until it is postponed.
  public var readyDate: Date? { readyAt.milliseconds == 0 ? nil : readyAt.date }
}

extension Tombstone {
  /// When the entry was queued.
  public var enqueueDate: Date { enqueuedAt.date }
  /// When it was settled.
  public var settlementDate: Date { settledAt.date }
}

extension HistoryEvent {
  /// The moment, by the device's clock.
  public var date: Date { at.date }
}

extension CaseFile {
  /// When it was queued on this installation.
  public var enqueueDate: Date { enqueuedAt.date }
  /// When the last attempt began; nil before the first.
  public var attemptDate: Date? { attemptedAt?.date }
  /// The entry is not sent before this moment; nil if it is not postponed.
  public var readyDate: Date? { readyAt?.date }
  /// When it was settled.
  public var settlementDate: Date? { settledAt?.date }
}

extension QueueHealth {
  /// When the oldest entry was queued.
  public var oldestEnqueueDate: Date? { oldestEnqueuedAt?.date }
  /// When the next postponed entry becomes ready.
  public var nextReadyDate: Date? { nextReadyAt?.date }
}
