import Dispatch
import Foundation

/// Ctrl-C, or a polite request to end: children are ended, no further work begins, and what is there is shown.
final class Interruption: Sendable {
  static let shared = Interruption()

  private let lock = NSLock()
  private nonisolated(unsafe) var number: Int32?
  private nonisolated(unsafe) var sources: [any DispatchSourceSignal] = []

  var isAsked: Bool { lock.withLock { unsafe number != nil } }

  /// 128 and the signal's number, as shells have it; nil if nobody asked.
  var exitCode: Int32? { lock.withLock { unsafe number.map { 128 + $0 } } }

  /// From now on a signal does not end the process. The second one does: somebody is in a hurry.
  func watch() {
    for number in [SIGINT, SIGTERM] {
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
    if !isFirst {
      signal(number, SIG_DFL)
      raise(number)
    }
  }
}
