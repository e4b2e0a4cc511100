import Foundation

/// State shared between threads: the module's only lock.
///
/// `@unchecked` because the compiler cannot see that `state` is touched with `condition` held only;
/// both are private, and the two methods below are all there is.
final class Monitor<State: Sendable>: @unchecked Sendable {
  private let condition = NSCondition()
  private var state: State

  init(_ state: State) {
    self.state = state
  }

  /// Runs `body` alone with the state, then lets waiting threads look at it again.
  func withLock<Result, Failure: Error>(
    _ body: (inout State) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    condition.lock()
    defer {
      condition.broadcast()
      condition.unlock()
    }
    return try body(&state)
  }

  /// Returns as soon as the state satisfies `condition`.
  func wait(until isSatisfied: (State) -> Bool) {
    condition.lock()
    defer { condition.unlock() }
    while !isSatisfied(state) { condition.wait() }
  }
}
