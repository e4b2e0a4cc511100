/// A number with the right form of its noun: `1 run`, `2 runs`.
package enum Counted {
  /// `many` is nil where an `s` at the end does.
  package static func text(_ count: Int, _ one: String, _ many: String? = nil) -> String {
    "\(count) " + (count == 1 ? one : many ?? one + "s")
  }
}
