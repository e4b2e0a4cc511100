import Dispatch
import Foundation
import PurchaseQueue
import PurchaseSync
import PurchaseSyncTesting

/// `serve`: the store and the backend, for somebody's own app under development.
struct ServeCommand {
  let options: ServeOptions

  func execute() async -> Int32 {
    let directory: String?
    let path: String
    do {
      directory = options.database == nil ? try Self.newDirectory() : nil
      path = options.database ?? (directory ?? "") + "/backend.sqlite"
    } catch {
      Terminal.error("purchase-simulator: there is no room for a database: \(error.localizedDescription)")
      return ExitCode.internal
    }
    defer { Self.remove(directory) }
    let server: WorldServer
    do {
      let faults = try options.faults.map(Self.plan)
      server = try WorldServer(
        databasePath: path, products: Self.products, bundleID: Self.bundleID, seed: options.seed,
        broken: options.broken, now: Self.clock(speed: options.speed))
      if let faults { server.setFaults(faults) }
      try server.start(port: options.port, host: options.host)
      server.verifyOverHTTP()
    } catch let problem as PlanProblem {
      Terminal.error("purchase-simulator: \(problem.message)")
      return problem.code
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
    Terminal.line("Ending: requests that are under way are answered.")
    server.stop()
    return ExitCode.ok
  }

  static let bundleID = "com.example.app"
  static let products = ServedProducts.all

  private func greet(_ server: WorldServer, _ path: String) {
    if !options.isLoopback {
      Terminal.error(
        "purchase-simulator: WARNING: \(options.host) can be reached from other machines, and whoever reaches it "
          + "can pay, grant, and read everything. Use 127.0.0.1 unless that is what you want.")
    }
    let url = server.baseURL.absoluteString
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

  /// Renewals and notifications, as time goes by.
  private static func runStore(_ server: WorldServer) async {
    let backend = URLSessionTransport(base: server.baseURL, timeout: 10)
    let clock = ContinuousClock()
    var next = clock.now
    while !Task.isCancelled {
      await server.goOn { body in
        let request = BackendRequest(
          method: "POST", path: "v1/notifications/appstore", headers: ["Content-Type": "application/json"],
          body: body)
        do throws(TransportError) {
          return try await backend.send(request).status
        } catch {
          // No answer: the store's queue says so, and tries again.
          return nil
        }
      }
      next = max(next.advanced(by: .milliseconds(200)), clock.now)
      do {
        try await clock.sleep(until: next)
      } catch {
        return
      }
    }
  }

  // MARK: What it is made of

  private struct PlanProblem: Error {
    var message: String
    var code: Int32
  }

  private static func plan(_ path: String) throws -> FaultPlanDocument {
    let data: Data
    do {
      data = try Data(contentsOf: URL(fileURLWithPath: path))
    } catch {
      throw PlanProblem(
        message: "\(path) cannot be read: \(error.localizedDescription)", code: ExitCode.noInput)
    }
    do {
      return try JSONDecoder().decode(FaultPlanDocument.self, from: data)
    } catch let error as DecodingError {
      throw PlanProblem(
        message: "\(path) is no plan of faults: \(Self.describe(error))", code: ExitCode.badData)
    }
  }

  private static func describe(_ error: DecodingError) -> String {
    let context: DecodingError.Context
    switch error {
    case .typeMismatch(_, let told), .valueNotFound(_, let told), .dataCorrupted(let told): context = told
    case .keyNotFound(let key, let told):
      return place(told) + "\"\(key.stringValue)\" is missing"
    @unknown default: return "it is not readable"
    }
    return place(context) + context.debugDescription
  }

  private static func place(_ context: DecodingError.Context) -> String {
    let path = context.codingPath.map { $0.intValue.map(String.init) ?? $0.stringValue }
    return path.isEmpty ? "" : path.joined(separator: ".") + ": "
  }

  /// The real time, from now on at another speed.
  static func clock(speed: Double) -> @Sendable () -> Timestamp {
    let begin = Date().timeIntervalSince1970 * 1_000
    let started = ContinuousClock.now
    return {
      let passed = ContinuousClock.now - started
      let milliseconds = Double(passed.wholeNanoseconds) / 1e6 * speed
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

  /// SIGINT or SIGTERM.
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
