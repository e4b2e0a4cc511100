package import PurchaseQueue

extension Timestamp {
  /// How many milliseconds later than `earlier` this is; negative if it is earlier. Saturates instead of
  /// overflowing: the clocks of devices say anything.
  package func milliseconds(since earlier: Timestamp) -> Int64 {
    let (difference, overflow) = milliseconds.subtractingReportingOverflow(earlier.milliseconds)
    guard overflow else { return difference }
    return earlier.milliseconds < 0 ? .max : .min
  }

  /// This moment, or the one that lies `milliseconds` after `now`, whichever is earlier. Limits a timer after the clock
  /// went back.
  package func clamped(to milliseconds: Int64, after now: Timestamp) -> Timestamp {
    min(self, now.adding(milliseconds: max(milliseconds, 0)))
  }
}
