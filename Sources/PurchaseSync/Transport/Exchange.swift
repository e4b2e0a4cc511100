import Dispatch
import Foundation

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

/// One request and what came of it so far. It ends once: by its answer, an error, its time, or a cancellation.
///
/// Thread-safe by its lock. Whoever ends it resumes the caller at once; the URL session's task is cancelled afterwards
/// on a queue of its own, since Foundation on Linux takes its locks in another order when a task is cancelled from
/// a callback or while its answer arrives, and can wait for itself for ever.
final class Exchange: @unchecked Sendable {
  typealias Outcome = Result<BackendResponse, TransportError>

  private let lock = NSLock()
  private let responseBytes: Int
  private var task: URLSessionDataTask?
  private var timer: (any DispatchSourceTimer)?
  private var resume: (@Sendable (Outcome) -> Void)?
  private var outcome: Outcome?
  private var head: HTTPURLResponse?
  private var body = Data()

  private static let cancelling = DispatchQueue(label: "purchase-sync.transport.cancel")

  init(responseBytes: Int) { self.responseBytes = responseBytes }

  /// Starts the task, or does not if it has been ended already. `resume` is called once.
  func begin(
    _ task: URLSessionDataTask, timeout: TimeInterval, _ resume: @escaping @Sendable (Outcome) -> Void
  ) {
    lock.lock()
    if let outcome {
      lock.unlock()
      // Never resumed, and so never heard of again; cancelling it tells the session that it can go.
      Self.cancelling.async { task.cancel() }
      return resume(outcome)
    }
    self.task = task
    self.resume = resume
    // URLSession's own limits are for pauses between bytes on Linux: an answer that drips would last for ever.
    let timer = DispatchSource.makeTimerSource(queue: Self.cancelling)
    timer.setEventHandler { [weak self] in
      self?.end(.failure(TransportError(.timedOut, reason: "no whole answer within \(timeout) s")))
    }
    timer.schedule(deadline: .now() + timeout)
    timer.activate()
    self.timer = timer
    lock.unlock()
    task.resume()
  }

  /// Ends it, unless something else did before.
  func end(_ outcome: Outcome) {
    lock.lock()
    guard self.outcome == nil else { return lock.unlock() }
    self.outcome = outcome
    let (resume, task, timer) = (resume, task, timer)
    (self.resume, self.task, self.timer) = (nil, nil, nil)
    body = Data()
    lock.unlock()
    timer?.cancel()
    resume?(outcome)
    if case .failure = outcome, let task { Self.cancelling.async { task.cancel() } }
  }

  // MARK: What the session tells

  func received(_ response: URLResponse) {
    let announced = response.expectedContentLength
    lock.lock()
    head = response as? HTTPURLResponse
    lock.unlock()
    if announced > Int64(responseBytes) { endAsTooLong() }
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
    end(Self.outcome(head, body, error))
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
    return .success(
      BackendResponse(
        status: head.statusCode, retryAfter: head.value(forHTTPHeaderField: "Retry-After"),
        date: head.value(forHTTPHeaderField: "Date"),
        contentType: head.value(forHTTPHeaderField: "Content-Type"),
        body: body))
  }
}
