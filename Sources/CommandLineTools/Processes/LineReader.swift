package import Foundation
import PurchaseSQLite

/// Reads the lines of a pipe on a thread of its own until the writer has closed it.
package final class LineReader: Sendable {
  private let handle: FileHandle
  private let onLine: @Sendable (String) -> Void
  private let done = DispatchSemaphore(value: 0)
  private let last = Locked(ProcessInfo.processInfo.systemUptime)

  /// Seconds since the last output.
  package var silence: Double { ProcessInfo.processInfo.systemUptime - last.value }

  package init(_ handle: FileHandle, onLine: @escaping @Sendable (String) -> Void) {
    (self.handle, self.onLine) = (handle, onLine)
  }

  package func start() {
    let thread = Thread { [self] in
      var rest = Data()
      // The bytes that are there now; `read(upToCount:)` would wait for all of them.
      while true {
        let data = handle.availableData
        guard !data.isEmpty else { break }
        last.withLock { $0 = ProcessInfo.processInfo.systemUptime }
        rest += data
        while let end = rest.firstIndex(of: UInt8(ascii: "\n")) {
          onLine(String(decoding: rest[..<end], as: UTF8.self))
          rest = Data(rest[(end + 1)...])
        }
      }
      done.signal()
    }
    thread.stackSize = 1 << 18
    thread.start()
  }

  package func wait() {
    done.wait()
    done.signal()
  }
}
