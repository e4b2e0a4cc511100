import FaultInjection
import Foundation

/// The backend of one cell: a child process that is started again, at the same port and with the same file, when it was
/// killed.
final class BackendProcess: Sendable {
  private let arguments: [String]
  private let isQuiet: Bool
  private let log: RunLog?
  private let lock = NSLock()
  private nonisolated(unsafe) var child: ChildProcess?
  private nonisolated(unsafe) var isEnding = false
  private nonisolated(unsafe) var kills = 0
  private nonisolated(unsafe) var failure: ChildError?
  let url: URL

  init(
    database: String, store: URL, crash: Failpoints.Moment? = nil, counts: String? = nil, isQuiet: Bool,
    log: RunLog? = nil
  ) throws {
    self.log = log
    arguments = ["backend", "--database", database, "--store", store.absoluteString]
    self.isQuiet = isQuiet
    var extra = Fate(crash: crash).arguments
    if let counts { extra += ["--counts", counts] }
    let (first, url) = try Self.start(arguments + extra, isQuiet: isQuiet)
    self.url = url
    unsafe child = first
    watch(first)
  }

  /// Whether it was killed by its own failpoint.
  var wasKilled: Bool { lock.withLock { unsafe kills > 0 } }

  /// Ends it; it may write down its counts before.
  func end() throws {
    let last = lock.withLock {
      unsafe isEnding = true
      return unsafe child
    }
    last?.release()
    _ = last?.wait()
    if let failure = lock.withLock({ unsafe failure }) { throw failure }
  }

  private static func start(_ arguments: [String], isQuiet: Bool) throws -> (ChildProcess, URL) {
    let told = FirstLine()
    let child = try ChildProcess(arguments, isQuiet: isQuiet) { told.heard($0) }
    guard let line = told.wait(seconds: 10), let url = URL(string: line) else {
      child.kill()
      throw ChildError(description: "the backend's process did not start")
    }
    return (child, url)
  }

  /// Starts it again as soon as it has died, as whoever runs a backend does.
  private func watch(_ watched: ChildProcess) {
    let thread = Thread { [self] in
      guard watched.wait() == .killed else { return }
      lock.withLock {
        guard unsafe !isEnding, !Interruption.shared.isAsked else { return }
        unsafe kills += 1
        log?.note(.backend, .kill, "killed")
        do {
          let (next, _) = try Self.start(arguments + ["--port", "\(url.port ?? 0)"], isQuiet: isQuiet)
          unsafe child = next
          log?.note(.backend, .launch, "started again")
          watch(next)
        } catch {
          unsafe child = nil
          unsafe failure = ChildError(description: "the backend could not be started again: \(error)")
        }
      }
    }
    thread.stackSize = 1 << 18
    thread.start()
  }
}

/// The first line that a child says.
private final class FirstLine: Sendable {
  private let lock = NSLock()
  private nonisolated(unsafe) var line: String?
  private let arrival = DispatchSemaphore(value: 0)

  func heard(_ text: String) {
    lock.withLock {
      guard unsafe line == nil else { return }
      unsafe line = text
      arrival.signal()
    }
  }

  /// Nil when it takes too long.
  func wait(seconds: Int) -> String? {
    guard arrival.wait(timeout: .now() + .seconds(seconds)) == .success else { return nil }
    return lock.withLock { unsafe line }
  }
}
