/// Why a server could not be started.
public struct HTTPServerError: Error, Sendable, Equatable, CustomStringConvertible {
  /// The step that failed: "bind", "listen", "socket" and so on.
  public let operation: String
  /// The address asked for, as "host:port".
  public let address: String
  /// The system's error number (errno), or 0 when the system was not asked.
  public let code: Int32
  /// The system's text for `code`, or the server's own.
  public let reason: String
  /// What the caller can do about it.
  public let remedy: String

  /// One line: what failed, where, why, and what to do.
  public var description: String {
    let number = code == 0 ? "" : " (errno \(code))"
    return "\(operation) on \(address) failed: \(reason)\(number); \(remedy)"
  }
}
