/// Why the mock server could not be started, read or changed.
public struct MockServerError: Error, Hashable, Sendable, CustomStringConvertible {
  /// One line: the step that failed, and its place.
  public let description: String

  init(_ cause: some Error & CustomStringConvertible) { description = cause.description }

  init(_ description: String) { self.description = description }
}
