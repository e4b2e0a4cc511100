import CommandLineTools
import Dispatch
import Foundation
import PurchaseSync

#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// The command that kills a backend and starts it again.
struct RestartCommand: Sendable {
  let command: String
  let backend: any BackendTransport

  /// How often the backend is asked whether it is back; ten times a second.
  private static let questions = 300

  /// Runs the command to its end, and waits until the backend answers.
  @Sendable func run() async throws {
    let status = await withCheckedContinuation { continuation in
      // Not a `Process`: on Linux it waits for the processes that its child has started, too. The results of the checks
      // are on standard output, so the command writes to standard error.
      DispatchQueue.global().async {
        continuation.resume(returning: unsafe system("exec 1>&2 </dev/null\n" + command))
      }
    }
    // Ctrl-C in a terminal reaches the command, too, and here it is ignored while `system` waits.
    let signal = status & 0x7F
    if signal != 0 {
      Interruption.shared.stop(code: 128 + signal)
      throw InputError(message: "signal \(signal) ended it", code: 128 + signal)
    }
    guard status == 0 else {
      throw InputError(message: "it ended with \(status >> 8 & 0xFF)", code: ExitCode.internal)
    }
    let question = BackendRequest(method: "GET", path: "v1/orders", headers: [:], body: Data())
    for _ in 0..<Self.questions {
      do {
        _ = try await backend.send(question)
        return
      } catch {
        // Not back yet.
        try await Task.sleep(for: .milliseconds(100))
      }
    }
    throw InputError(message: "the backend does not answer 30 s after it", code: ExitCode.internal)
  }
}
