import Foundation

/// State that only one thread at a time sees.
///
/// A class around NSLock, because `Synchronization.Mutex` needs newer systems than this package supports.
/// `@unchecked` holds because `state` is private and touched under the lock only; `body` must not keep a
/// reference out of the state.
final class Locked<State>: @unchecked Sendable {
  private let lock = NSLock()
  private var state: State

  init(_ state: sending State) { self.state = state }

  func withLock<R: Sendable, E: Error>(_ body: (inout State) throws(E) -> R) throws(E) -> R {
    lock.lock()
    defer { lock.unlock() }
    return try body(&state)
  }
}
