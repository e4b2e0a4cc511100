/// Why a server could not be started.
package struct HTTPServerError: Error, Sendable, Equatable, CustomStringConvertible {
  /// The step that failed: "bind", "listen", "socket" and so on.
  package let operation: String
  /// The address asked for, as "host:port".
  package let address: String
  /// The system's error number (errno), or 0 when the system was not asked.
  package let code: Int32
  /// The system's text for `code`, or the server's own.
  package let reason: String
  /// What the caller can do about it.
  package let remedy: String

  /// One line: what failed, where, why, and what to do.
  package var description: String {
    let number = code == 0 ? "" : " (errno \(code))"
    return "\(operation) on \(address) failed: \(reason)\(number); \(remedy)"
  }
}
