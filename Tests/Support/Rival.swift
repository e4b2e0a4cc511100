import Foundation

/// Stands for another process: work on a thread of its own, which has to wait for a lock that its maker holds.
public final class Rival<Value: Sendable>: Sendable {
  /// Whether the work had not ended 200 ms after its start. Without the lock it ends sooner. On a machine that is too
  /// busy for it, this is true, too.
  public let hasWaited: Bool
  private let results: AsyncStream<Result<Value, any Error>>

  /// Starts the work, and waits for up to 200 ms.
  public init(_ work: @escaping @Sendable () throws -> Value) {
    let (stream, feed) = AsyncStream.makeStream(of: Result<Value, any Error>.self)
    let ended = DispatchSemaphore(value: 0)
    results = stream
    Thread.detachNewThread {
      feed.yield(Result(catching: work))
      ended.signal()
    }
    hasWaited = ended.wait(timeout: .now() + .milliseconds(200)) == .timedOut
  }

  /// Waits for the end of the work. Only one caller gets its result.
  public func result() async throws -> Value {
    for await result in results { return try result.get() }
    throw CancellationError()
  }
}
