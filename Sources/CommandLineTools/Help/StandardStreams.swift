import Foundation

#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// Standard input, output and error, if the parent process closed one of them.
package enum StandardStreams {
  /// Occupies the descriptors of closed streams. Otherwise a file or a pipe that is opened later would get such a number:
  /// it would receive output meant for a terminal, and a child could not be given its own streams. Reading and writing
  /// them still fails. To be called first of all.
  ///
  /// Returns false if standard output is closed: then no result could be printed.
  package static func hold() -> Bool {
    var isHeard = true
    for number in [STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO] where fcntl(number, F_GETFD) == -1 {
      if number == STDOUT_FILENO { isHeard = false }
      // The lowest number that is free, which is this one.
      _ = unsafe open("/dev/null", number == STDIN_FILENO ? O_WRONLY : O_RDONLY)
    }
    return isHeard
  }
}
