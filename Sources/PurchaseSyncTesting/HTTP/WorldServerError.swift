/// Why the world could not be set up or read.
public struct WorldServerError: Error, Hashable, Sendable, CustomStringConvertible {
  /// One line: what failed and where.
  public let description: String

  init(_ cause: some Error & CustomStringConvertible) { description = cause.description }

  init(_ description: String) { self.description = description }
}
