/// A failed call on a file: what was done, where, and the system's reason.
package struct FileError: Error, Hashable, Sendable, CustomStringConvertible {
  package var operation: String
  package var path: String
  package var errno: Int32
  package var reason: String

  package var description: String { "\(operation) \(path): \(reason) (errno \(errno))" }
}
