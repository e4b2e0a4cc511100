/// How often a value was changed. All counts are equal for `==` of the values that have them.
struct ChangeCount: Sendable, Hashable {
  var number = 0

  static func == (left: ChangeCount, right: ChangeCount) -> Bool { true }
  func hash(into hasher: inout Hasher) {}
}
