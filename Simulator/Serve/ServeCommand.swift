import Dispatch
import Foundation
import PurchaseQueue
import PurchaseSync
import PurchaseSyncTesting

/// `serve`: a mock store and backend for an app under development.
struct ServeCommand {
  let options: ServeOptions

  func execute() async -> Int32 {
    let directory: String?
    let path: String
    do {
      directory = options.database == nil ? try Self.newDirectory() : nil
      path = options.database ?? (directory ?? "") + "/backend.sqlite"
    } catch {
      Terminal.error("purchase-simulator: there is no space for a database: \(error.localizedDescription)")
      return ExitCode.internal
    }
    defer { Self.remove(directory) }
    let server: MockServer
    do {
      let faults = try options.faults.map(Self.plan)
      server = try MockServer(
        databasePath: path, products: Self.products, bundleID: Self.bundleID, seed: options.seed,
        broken: options.broken, now: Self.clock(speed: options.speed))
      if let faults { server.setFaults(faults) }
      try server.start(port: options.port, host: options.host)
      server.verifyOverHTTP()
    } catch let error as InputError {
      return error.tell()
    } catch {
      let what = "\(path) at \(options.host):\(options.port)"
      Terminal.error("purchase-simulator: \(what) cannot be served: \(error)")
      return ExitCode.internal
    }
    server.withStore { $0.notifications.versions = [.two] }
    greet(server, path)
    let store = Task { await Self.runStore(server) }
    await Self.untilAskedToEnd()
    store.cancel()
    if !options.json { Terminal.line("Ending. Running requests are answered first.") }
    server.stop()
    return ExitCode.ok
  }

  static let bundleID = "com.example.app"
  static let products = ServedProducts.all

  private func greet(_ server: MockServer, _ path: String) {
    if !options.isLoopback {
      Terminal.error(
        "purchase-simulator: WARNING: \(options.host) can be reached from other machines. All who reach it "
          + "can pay, grant, and read everything. Use 127.0.0.1 if you do not want that.")
    }
    let url = server.baseURL.absoluteString
    if options.json {
      return Terminal.json(
        ServedAddresses(backend: url + "/v1", store: url + "/store", page: url + "/", database: path))
    }
    Terminal.line(
      """
      Backend        \(url)/v1
      App Store      \(url)/store
      Status page    \(url)/
      Database       \(options.database == nil ? "a new one, removed at the end" : path)
      \(options.broken.map { "Broken         \($0.rawValue): \($0.summary)\n" } ?? "")
      'token-NAME' is a bearer token of the account NAME. An order:
        curl -sS \(url)/v1/orders -H 'Authorization: Bearer token-alice' -H 'Idempotency-Key: 1' \
      -d '{"productID":"\(Self.products.first?.id ?? "")","quantity":1}'
      Ctrl-C ends it.
      """)
  }

  /// Runs renewals and sends notifications when they are due.
  private static func runStore(_ server: MockServer) async {
    let backend = URLSessionTransport(base: server.baseURL, timeout: 10)
    let clock = ContinuousClock()
    var next = clock.now
    while !Task.isCancelled {
      await server.goOn { await backend.post($0) }
      next = max(next.advanced(by: .milliseconds(200)), clock.now)
      do {
        try await clock.sleep(until: next)
      } catch {
        return
      }
    }
  }

  private static func plan(_ path: String) throws -> FaultPlan {
    let data = try InputError.contents(of: path)
    do {
      return try JSONDecoder().decode(FaultPlan.self, from: data)
    } catch let error as DecodingError {
      throw InputError(message: "\(path) is no plan of faults: \(error.words)", code: ExitCode.badData)
    }
  }

  /// The real time; from now on it passes at another speed.
  static func clock(speed: Double) -> @Sendable () -> Timestamp {
    let begin = Date().timeIntervalSince1970 * 1_000
    let started = ContinuousClock.now
    return {
      let milliseconds = (ContinuousClock.now - started) / .milliseconds(1) * speed
      return Timestamp(milliseconds: Int64(min(begin + milliseconds, 9e15)))
    }
  }

  private static func newDirectory() throws -> String {
    let url = FileManager.default.temporaryDirectory
      .appendingPathComponent("purchase-simulator.\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
    return url.path
  }

  private static func remove(_ directory: String?) {
    guard let directory else { return }
    do {
      try FileManager.default.removeItem(atPath: directory)
    } catch {
      Terminal.error("purchase-simulator: \(directory) could not be removed: \(error.localizedDescription)")
    }
  }

  /// Waits for SIGINT or SIGTERM.
  private static func untilAskedToEnd() async {
    let signals = [SIGINT, SIGTERM]
    for number in signals { signal(number, SIG_IGN) }
    let (stream, asked) = AsyncStream.makeStream(of: Void.self)
    let sources = signals.map { number in
      let source = DispatchSource.makeSignalSource(signal: number)
      source.setEventHandler { asked.yield() }
      source.resume()
      return source
    }
    for await _ in stream { break }
    for source in sources { source.cancel() }
  }
}

/// The addresses, for `serve --json`.
private struct ServedAddresses: Encodable {
  var backend: String
  var store: String
  var page: String
  var database: String
}
