import Foundation
import PurchaseSQLite

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

/// One request and its progress. It ends once: by its answer, an error, its time limit, or a cancellation.
///
/// Thread-safe by its lock. The caller is resumed at once. The URL session's task is cancelled afterwards, as
/// a separate operation in the session's delegate queue, where Foundation on Linux completes its tasks.
/// Cancelled outside that queue while it completes, the task ends the process ("a task that is not in the
/// registry"). Cancelled from a callback, under a lock, it can wait for itself forever.
final class Exchange: Sendable {
  typealias Outcome = Result<BackendResponse, TransportError>

  private struct State {
    var task: URLSessionDataTask?
    var resume: (@Sendable (Outcome) -> Void)?
    var outcome: Outcome?
    var head: HTTPURLResponse?
    var body = Data()
  }

  private let state = Locked(State())
  private let responseBytes: Int
  private let delegateQueue: OperationQueue

  init(responseBytes: Int, delegateQueue: OperationQueue) {
    self.responseBytes = responseBytes
    self.delegateQueue = delegateQueue
  }

  /// Starts the task, unless the exchange has already ended. `resume` is called once.
  func begin(_ task: URLSessionDataTask, _ resume: @escaping @Sendable (Outcome) -> Void) {
    let ended = state.withLock { state in
      if state.outcome == nil { (state.task, state.resume) = (task, resume) }
      return state.outcome
    }
    guard let ended else { return task.resume() }
    // The task was never resumed, so the session reports nothing about it. Cancelling lets the session
    // release it.
    cancel(task)
    resume(ended)
  }

  /// Ends the exchange, unless it has already ended. Cancels the task unless the task itself ended.
  func end(_ outcome: Outcome, cancelling: Bool = true) {
    let before = state.withLock { state in
      defer { if state.outcome == nil { state = State(outcome: outcome, head: state.head) } }
      return state
    }
    guard before.outcome == nil else { return }
    before.resume?(outcome)
    if cancelling, let task = before.task { cancel(task) }
  }

  private func cancel(_ task: URLSessionDataTask) { delegateQueue.addOperation { task.cancel() } }

  // MARK: Callbacks of the session

  func received(_ response: URLResponse) {
    guard let head = response as? HTTPURLResponse else { return }
    state.withLock { $0.head = head }
    if response.expectedContentLength > Int64(responseBytes) { endAsTooLong() }
    // A 401 needs no body. After a password challenge, Foundation on Linux never reports its completion.
    if head.statusCode == 401 { end(.success(Self.answer(head, Data()))) }
  }

  /// A redirect needs no body: it is not followed.
  func redirected(_ head: HTTPURLResponse) { end(.success(Self.answer(head, Data()))) }

  func received(_ data: Data) {
    let isTooLong = state.withLock { state in
      let isTooLong = data.count > responseBytes - state.body.count
      if !isTooLong, state.outcome == nil { state.body.append(data) }
      return isTooLong
    }
    if isTooLong { endAsTooLong() }
  }

  func completed(_ error: (any Error)?) {
    let state = state.value
    end(Self.outcome(state.head, state.body, error), cancelling: false)
  }

  private func endAsTooLong() {
    end(
      .failure(
        TransportError(.tooLong, reason: "an answer of more than \(responseBytes) bytes is not the backend's")
      ))
  }

  private static func outcome(_ head: HTTPURLResponse?, _ body: Data, _ error: (any Error)?) -> Outcome {
    if let error {
      // Only the code: the text of a Foundation error contains the address.
      guard let error = error as? URLError else { return .failure(TransportError(reason: "no HTTP answer")) }
      let kind: TransportError.Kind = error.code == .timedOut ? .timedOut : .noAnswer
      return .failure(TransportError(kind, reason: "URLError \(error.code.rawValue)"))
    }
    guard let head else { return .failure(TransportError(reason: "no HTTP answer")) }
    return .success(answer(head, body))
  }

  private static func answer(_ head: HTTPURLResponse, _ body: Data) -> BackendResponse {
    BackendResponse(
      status: head.statusCode, retryAfter: head.value(forHTTPHeaderField: "Retry-After"),
      date: head.value(forHTTPHeaderField: "Date"),
      contentType: head.value(forHTTPHeaderField: "Content-Type"),
      signature: head.value(forHTTPHeaderField: ReplySignature.field), body: body)
  }
}
