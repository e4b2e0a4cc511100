import Foundation

#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// Whether a process has rested since the last question: it used no processor, and none of its threads waits for one or
/// for the disk. On a busy computer a process that wants to work and is not let is not at rest.
struct ProcessRest {
  /// The system's number; nil before it has begun.
  let process: Int32?
  private var used: Int64?

  init(process: Int32?) { self.process = process }

  mutating func hasRested() -> Bool {
    guard let process else { return false }
    #if os(Linux)
      let before = used
      used = Self.processorTime(of: process)
      guard let used, used == before, Self.isIdle(process) else { return false }
      // What ran while its threads were looked at has used some.
      return Self.processorTime(of: process) == used
    #else
      // Elsewhere only its requests stop the clock.
      return true
    #endif
  }

  #if os(Linux)
    /// In nanoseconds; nil if the process has ended.
    private static func processorTime(of process: Int32) -> Int64? {
      var clock = clockid_t()
      var time = timespec()
      guard unsafe clock_getcpuclockid(process, &clock) == 0, unsafe clock_gettime(clock, &time) == 0 else {
        return nil
      }
      return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
    }

    /// Whether each of its threads sleeps: `S` in `/proc`, after the name in parentheses.
    private static func isIdle(_ process: Int32) -> Bool {
      let tasks = "/proc/\(process)/task"
      guard let folder = unsafe opendir(tasks) else { return false }
      defer { unsafe closedir(folder) }
      while let entry = unsafe readdir(folder) {
        let name = unsafe withUnsafePointer(to: &entry.pointee.d_name) {
          unsafe $0.withMemoryRebound(to: CChar.self, capacity: 256) { unsafe String(cString: $0) }
        }
        guard name.first != "." else { continue }
        guard state(ofThread: tasks + "/" + name + "/stat") == UInt8(ascii: "S") else { return false }
      }
      return true
    }

    /// `R`, `S`, `D`, …; nil for a thread that has ended.
    private static func state(ofThread path: String) -> UInt8? {
      let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC)
      guard descriptor >= 0 else { return nil }
      defer { close(descriptor) }
      var bytes = [UInt8](repeating: 0, count: 128)
      let count = unsafe bytes.withUnsafeMutableBytes { unsafe read(descriptor, $0.baseAddress, $0.count) }
      guard count > 0, let end = bytes[..<count].lastIndex(of: UInt8(ascii: ")")), end + 2 < count else {
        return nil
      }
      return bytes[end + 2]
    }
  #endif
}
