import Foundation

#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// Standard input, output and error where whoever started this process closed one of them.
enum StandardStreams {
  /// Keeps the numbers of those that are closed, so that no file or pipe which is opened later takes one of them: what
  /// is meant for a terminal would go there, and a child could not be given its own. Reading and writing them fails as
  /// before. To be called before anything else.
  ///
  /// Returns false if standard output is closed: whatever is done, nobody would hear of it.
  static func hold() -> Bool {
    var isHeard = true
    for number in [STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO] where fcntl(number, F_GETFD) == -1 {
      if number == STDOUT_FILENO { isHeard = false }
      // The lowest number that is free, which is this one.
      _ = unsafe open("/dev/null", number == STDIN_FILENO ? O_WRONLY : O_RDONLY)
    }
    return isHeard
  }
}
