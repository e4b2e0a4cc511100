import Foundation

#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// Ends this process when its parent has ended or has closed the pipe to it. No other mechanism
/// would end it.
package enum ParentWatch {
  package static func start(_ onEnd: @escaping @Sendable () -> Void) {
    let thread = Thread {
      do {
        // The parent holds the other end, and writes nothing.
        while let data = try FileHandle.standardInput.read(upToCount: 1), !data.isEmpty {}
      } catch {
        Terminal.error("child: standard input: \(error.localizedDescription)")
      }
      onEnd()
      _exit(ExitCode.internal)
    }
    thread.stackSize = 1 << 18
    thread.start()
  }
}
