import Foundation

#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// Ends this process when the one that started it has ended, or has let go of it, however that came about: nobody else
/// would.
enum ParentWatch {
  static func start(_ onEnd: @escaping @Sendable () -> Void) {
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
