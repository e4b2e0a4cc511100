/// A number and what is counted, as one says it: `1 life`, `2 lives`.
enum Counted {
  /// `many` is nil where an `s` at the end does.
  static func text(_ count: Int, _ one: String, _ many: String? = nil) -> String {
    "\(count) " + (count == 1 ? one : many ?? one + "s")
  }
}
