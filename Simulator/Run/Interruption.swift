import Dispatch
import Foundation

#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// Ctrl-C, or a polite request to end: children are ended, no further work begins, and what is there is shown.
final class Interruption: Sendable {
  static let shared = Interruption()

  private let lock = NSLock()
  private nonisolated(unsafe) var number: Int32?
  private nonisolated(unsafe) var sources: [any DispatchSourceSignal] = []

  /// Whether somebody looks at it.
  var isWatching: Bool { lock.withLock { unsafe !sources.isEmpty } }

  var isAsked: Bool { lock.withLock { unsafe number != nil } }

  /// 128 and the signal's number, as shells have it; nil if nobody asked.
  var exitCode: Int32? { lock.withLock { unsafe number.map { 128 + $0 } } }

  /// Throws once somebody has asked: no further child is started.
  func check() throws {
    if isAsked { throw ChildError(description: "it was asked to end") }
  }

  /// Ends it as a signal would, with this exit code: nobody reads what is written any more, say.
  func stop(code: Int32) {
    lock.withLock { if unsafe number == nil { unsafe number = code - 128 } }
    Children.shared.killAll()
  }

  /// From now on a signal does not end the process. The second one does: somebody is in a hurry.
  func watch() {
    for number in [SIGINT, SIGTERM, SIGHUP] {
      signal(number, SIG_IGN)
      let source = DispatchSource.makeSignalSource(signal: number, queue: .global())
      source.setEventHandler { [self] in asked(number) }
      source.resume()
      lock.withLock { unsafe sources.append(source) }
    }
  }

  private func asked(_ number: Int32) {
    let isFirst = lock.withLock {
      defer { unsafe self.number = number }
      return unsafe self.number == nil
    }
    Children.shared.killAll()
    // The second time somebody is in a hurry.
    if !isFirst { _exit(128 + number) }
  }
}
