import Foundation

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

/// One request and what came of it so far. It ends once: by its answer, an error, its time, or a cancellation.
///
/// Thread-safe by its lock. Whoever ends it resumes the caller at once; the URL session's task is cancelled afterwards,
/// as an operation of its own in the session's delegate queue. Foundation on Linux completes its tasks there: if one
/// were cancelled beside that queue while it completes, the process would end ("a task that is not in the registry");
/// and cancelled from a callback, under a lock, it can wait for itself for ever.
final class Exchange: @unchecked Sendable {
  typealias Outcome = Result<BackendResponse, TransportError>

  private let lock = NSLock()
  private let responseBytes: Int
  private var task: URLSessionDataTask?
  private var resume: (@Sendable (Outcome) -> Void)?
  private var outcome: Outcome?
  private var head: HTTPURLResponse?
  private var body = Data()

  private let delegateQueue: OperationQueue

  init(responseBytes: Int, delegateQueue: OperationQueue) {
    self.responseBytes = responseBytes
    self.delegateQueue = delegateQueue
  }

  /// Starts the task, or does not if it has been ended already. `resume` is called once.
  func begin(_ task: URLSessionDataTask, _ resume: @escaping @Sendable (Outcome) -> Void) {
    lock.lock()
    if let outcome {
      lock.unlock()
      // Never resumed, and so never heard of again; cancelling it tells the session that it can go.
      cancel(task)
      return resume(outcome)
    }
    self.task = task
    self.resume = resume
    lock.unlock()
    task.resume()
  }

  /// Ends it, unless something else did before. Whatever goes on of it is cancelled unless it ended by itself.
  func end(_ outcome: Outcome, cancelling: Bool = true) {
    lock.lock()
    guard self.outcome == nil else { return lock.unlock() }
    self.outcome = outcome
    let (resume, task) = (resume, task)
    (self.resume, self.task) = (nil, nil)
    body = Data()
    lock.unlock()
    resume?(outcome)
    if cancelling, let task { cancel(task) }
  }

  private func cancel(_ task: URLSessionDataTask) { delegateQueue.addOperation { task.cancel() } }

  // MARK: What the session tells

  func received(_ response: URLResponse) {
    guard let head = response as? HTTPURLResponse else { return }
    lock.lock()
    self.head = head
    lock.unlock()
    if response.expectedContentLength > Int64(responseBytes) { endAsTooLong() }
    // Its status says all; and after a challenge for a password, Foundation on Linux never says that it is complete.
    if head.statusCode == 401 { end(.success(Self.answer(head, Data()))) }
  }

  func received(_ data: Data) {
    lock.lock()
    let isTooLong = data.count > responseBytes - body.count
    if !isTooLong, outcome == nil { body.append(data) }
    lock.unlock()
    if isTooLong { endAsTooLong() }
  }

  func completed(_ error: (any Error)?) {
    lock.lock()
    let (head, body) = (head, body)
    lock.unlock()
    end(Self.outcome(head, body, error), cancelling: false)
  }

  private func endAsTooLong() {
    end(
      .failure(TransportError(.tooLong, reason: "an answer of more than \(responseBytes) bytes is not ours")))
  }

  private static func outcome(_ head: HTTPURLResponse?, _ body: Data, _ error: (any Error)?) -> Outcome {
    if let error {
      // Only its number: the text of an error of Foundation holds the address.
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
      body: body)
  }
}
