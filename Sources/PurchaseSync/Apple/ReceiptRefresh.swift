#if canImport(StoreKit)
  import Foundation
  import StoreKit

  /// One request for a new app receipt. StoreKit may ask for a password, so this starts on the main actor; nothing is
  /// waited for there.
  @MainActor final class ReceiptRefresh: NSObject {
    private let request = SKReceiptRefreshRequest(receiptProperties: nil)
    private var waiting: CheckedContinuation<Void, any Error>?
    /// StoreKit keeps its delegate weakly, and nobody else has this object: it keeps itself until the end.
    private var kept: ReceiptRefresh?

    private init(_ waiting: CheckedContinuation<Void, any Error>) {
      self.waiting = waiting
      super.init()
    }

    /// Returns when a new receipt lies in its file.
    ///
    /// - Throws: `StoreError.refreshFailed`, or `CancellationError` if the task was cancelled.
    static func run() async throws {
      try Task.checkCancellation()
      let running = Running()
      try await withTaskCancellationHandler {
        try await withCheckedThrowingContinuation { waiting in
          let refresh = ReceiptRefresh(waiting)
          running.refresh = refresh
          refresh.start()
        }
      } onCancel: {
        Task { @MainActor in running.refresh?.cancel() }
      }
    }

    /// What a cancellation has to reach.
    @MainActor private final class Running {
      weak var refresh: ReceiptRefresh?
    }

    private func start() {
      kept = self
      request.delegate = self
      request.start()
    }

    private func cancel() {
      request.cancel()
      end(.failure(CancellationError()))
    }

    /// Once: a cancelled request may still answer.
    private func end(_ result: Result<Void, any Error>) {
      waiting?.resume(with: result)
      waiting = nil
      request.delegate = nil
      kept = nil
    }
  }

  /// StoreKit answers on a thread of its own choice.
  extension ReceiptRefresh: SKRequestDelegate {
    nonisolated func requestDidFinish(_ request: SKRequest) {
      Task { @MainActor in end(.success(())) }
    }

    nonisolated func request(_ request: SKRequest, didFailWithError error: any Error) {
      let code = (error as? SKError).map { "SKError \($0.code.rawValue)" } ?? "\(type(of: error))"
      Task { @MainActor in end(.failure(StoreError.refreshFailed(reason: code))) }
    }
  }
#endif
