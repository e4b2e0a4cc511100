import BackendConformance
import CommandLineTools
import Dispatch
import Foundation
import PurchaseQueue
import PurchaseSync
import PurchaseSyncTesting
import ScenarioFormat

/// `serve`: a mock store and backend for an app under development.
struct ServeCommand {
  let options: ServeOptions

  func execute() async -> Int32 {
    ServerMemory.returnLongBlocks()
    let directory: String?
    let path: String
    do {
      directory = options.database == nil ? try Self.newDirectory() : nil
      path = options.database ?? (directory ?? "") + "/backend.sqlite"
    } catch {
      Terminal.complain("there is no space for a database: \(error.localizedDescription)")
      return ExitCode.internal
    }
    defer { Self.remove(directory) }
    let server: MockServer
    do {
      let faults = try options.faults.map(Self.plan)
      server = try MockServer(
        databasePath: path, products: Self.products, bundleID: Self.bundleID,
        // A file that is removed at the end needs no store.
        environment: options.environment, keepsStore: options.database != nil, seed: options.seed,
        broken: options.broken?.hooks, signing: options.signing, now: Self.clock(speed: options.speed))
      let secret = options.sharedSecret
      server.withStore { $0.sharedSecret = secret }
      server.finishAtStore(options.finishesAtStore)
      server.setServerAPILimit(options.apiLimit.map { ServerAPIRateLimit(requests: $0) })
      if let faults { server.setFaults(faults) }
      try server.start(port: options.port, host: options.host)
      server.verifyOverHTTP()
    } catch let error as InputError {
      return error.tell()
    } catch {
      let what = "\(path) at \(options.host):\(options.port)"
      Terminal.complain("\(what) cannot be served: \(error)")
      return ExitCode.internal
    }
    server.withStore { store in
      if let versions = options.notifyVersions {
        store.notifications.versions = versions
      } else if store.notifications.versions.isEmpty {
        store.notifications.versions = [.two]
      }
    }
    if let notify = options.notify { server.notificationURL = URL(string: notify) }
    let end = await Self.listenForEnd()
    greet(server, path)
    let store = Task { await Self.runStore(server) }
    for await _ in end.stream { break }
    for source in end.sources { source.cancel() }
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
    let greeting = ServeGreeting(
      url: url, database: options.database, environment: options.environment,
      product: Self.products.first?.id ?? "", broken: options.broken, hasChecksums: options.checksums)
    if options.json { return Terminal.json(greeting.addresses(database: path)) }
    Terminal.line(greeting.text)
  }

  /// Runs renewals and sends notifications when they are due.
  private static func runStore(_ server: MockServer) async {
    let own = server.baseURL.appendingPathComponent("v1/notifications/appstore")
    let clock = ContinuousClock()
    var next = clock.now
    while !Task.isCancelled {
      await server.goOn(atOnce: 8) { await NotificationPost.send($0, to: server.notificationURL ?? own) }
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
      Terminal.complain("\(directory) could not be removed: \(error.localizedDescription)")
    }
  }

  /// SIGINT and SIGTERM from now on. When it returns, none is missed: a program that has read the addresses may ask at once
  /// for the end.
  private static func listenForEnd() async -> (stream: AsyncStream<Void>, sources: [any DispatchSourceSignal])
  {
    let (stream, asked) = AsyncStream.makeStream(of: Void.self)
    var sources: [any DispatchSourceSignal] = []
    for number in [SIGINT, SIGTERM] {
      // The default would end the process before the source learns of it.
      signal(number, SIG_IGN)
      let source = DispatchSource.makeSignalSource(signal: number)
      source.setEventHandler { asked.yield() }
      // Until the source is registered, an ignored signal is lost.
      await withCheckedContinuation { registered in
        source.setRegistrationHandler { registered.resume() }
        source.resume()
      }
      sources.append(source)
    }
    return (stream, sources)
  }
}
