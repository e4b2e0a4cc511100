import PurchaseSQLite

/// A progress line on standard error; only on a terminal.
package final class Progress: Sendable {
  private let count: Int
  private let isShown: Bool
  private let line = ProgressLine(every: 0)
  private let done = Locked(0)

  package init(count: Int, isShown: Bool) {
    self.count = count
    self.isShown = isShown && count > 1
    show()
  }

  package func step(by count: Int = 1) {
    done.withLock { $0 += count }
    show()
  }

  /// To be called before other output.
  package func clear() { if isShown { line.clear() } }

  package func end() { clear() }

  private func show() {
    guard isShown else { return }
    line.show { Self.words(done.value, of: count, after: $0) }
  }

  /// `12 of 45, 3.1/s, 11 s left`.
  package static func words(_ done: Int, of count: Int, after seconds: Double) -> String {
    guard done > 0, seconds > 0 else { return "\(done) of \(count)" }
    let rate = Double(done) / seconds
    let tenths = Int((rate * 10).rounded())
    let left = Int((Double(count - done) / rate).rounded(.up))
    return "\(done) of \(count), \(tenths / 10).\(tenths % 10)/s, \(left) s left"
  }
}
