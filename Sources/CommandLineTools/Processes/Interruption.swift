import Dispatch
import Foundation
import PurchaseSQLite

#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// Ctrl-C or a request to end: child processes are killed, no further work begins, and finished results are shown.
package final class Interruption: Sendable {
  package static let shared = Interruption()

  private let number = Locked<Int32?>(nil)
  private let sources = Locked<[any DispatchSourceSignal]>([])

  /// Whether signals are handled here.
  package var isWatching: Bool { !sources.value.isEmpty }

  package var isAsked: Bool { number.value != nil }

  /// 128 and the signal's number, as in shells; nil without an interruption.
  package var exitCode: Int32? { number.value.map { 128 + $0 } }

  /// Throws after an interruption, so that no further child is started.
  package func check() throws {
    if isAsked { throw ChildError(description: "interrupted") }
  }

  /// Interrupts the work as a signal would, with this exit code: for example when the output cannot be written.
  package func stop(code: Int32) {
    number.withLock { $0 = $0 ?? code - 128 }
    Children.shared.killAll()
  }

  /// From now on the first signal does not end the process. The second one does.
  package func watch() {
    for number in [SIGINT, SIGTERM, SIGHUP] {
      // A handler: what is ignored here would stay ignored in the programs that are started.
      signal(number) { _ in }
      let source = DispatchSource.makeSignalSource(signal: number, queue: .global())
      source.setEventHandler { [self] in asked(number) }
      source.resume()
      sources.withLock { $0.append(source) }
    }
  }

  private func asked(_ number: Int32) {
    let isFirst = self.number.withLock { asked in
      defer { asked = number }
      return asked == nil
    }
    Children.shared.killAll()
    if !isFirst { _exit(128 + number) }
  }
}
