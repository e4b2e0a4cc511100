import LoopbackHTTP
import PurchaseQueue
import PurchaseSync

/// What happens when changes cannot be written, as on a full disk: they are undone in memory, so that no purchase is
/// charged that the file lacks, and questions are answered from the file.
extension MockState {
  /// Discards every judged request that is not in the file, and returns the number of the last discarded change.
  mutating func abandon(now: Timestamp) -> Int {
    let through = backend.abandon()
    if backend.hasLostRows { setBack(now: now) }
    return through
  }

  /// Sets the store, the clock and the revoked credentials back to the file. If it cannot be read either, nothing more
  /// of the store is written until it can.
  private mutating func setBack(now: Timestamp) {
    do {
      var reader = StoreKeeper()
      if let kept = try reader.read(backend, at: "the file", store.environment) {
        resume(kept.state, at: kept.at, now: now)
      } else if let firstState {
        reader = StoreKeeper()
        resume(firstState, at: now, now: now)
      }
      keeper = reader
      backend.forgetLoss()
    } catch {
      failedCommits += 1
    }
  }

  /// Answers a question from the file after changes could not be written. What is due in the store would be another
  /// change, so the question is asked at the last moment before it. What the answer changes is forgotten.
  func answerFromFile(_ request: HTTPRequest, now: Timestamp) -> HTTPResponse {
    var copy = self
    var moment = now.adding(milliseconds: clockShift)
    if let due = store.nextStepAt, due <= moment { moment = due.adding(milliseconds: -1) }
    return copy.answer(request, now: moment, answers: [:])
  }
}
