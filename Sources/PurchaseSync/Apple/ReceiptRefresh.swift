#if canImport(StoreKit)
  import Foundation
  import StoreKit

  /// One request for a new app receipt. StoreKit may ask for a password, so the request starts on the main
  /// actor. Nothing blocks there.
  @MainActor final class ReceiptRefresh: NSObject {
    private let request = SKReceiptRefreshRequest(receiptProperties: nil)
    private var waiting: CheckedContinuation<Void, any Error>?
    /// StoreKit keeps its delegate weakly, and no other object refers to this one: it keeps itself until the
    /// end.
    private var kept: ReceiptRefresh?

    private init(_ waiting: CheckedContinuation<Void, any Error>) {
      self.waiting = waiting
      super.init()
    }

    /// Returns when a new receipt is in its file.
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

    /// Gives the cancellation handler access to the request.
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

    /// Ends once: a cancelled request may still answer.
    private func end(_ result: Result<Void, any Error>) {
      waiting?.resume(with: result)
      waiting = nil
      request.delegate = nil
      kept = nil
    }
  }

  /// StoreKit calls these on a thread of its choice.
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
