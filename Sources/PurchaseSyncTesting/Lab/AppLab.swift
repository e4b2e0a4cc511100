public import Foundation
import PurchaseQueue
import PurchaseSQLite
import PurchaseSync
import VirtualTime

/// A store, a backend, phones and time in one process: for the tests of an app that sells.
///
/// Time is virtual. It passes when all tasks of the run wait for it: a retry after two hours takes no longer than a
/// call. Tasks run one at a time, in the same order each time, so a test that fails once fails each time. The files of
/// the phones are real.
///
/// ```swift
/// try await AppLab.run(products: [StoreProduct(id: "coins.100", kind: .consumable)]) { lab in
///   lab.server.setFaults(.replyLost(path: "/v1/receipts", occurrence: 1))
///   try await lab.phone().launch { app in
///     let shop = Shop(
///       store: app.store, backend: app.backend, configuration: app.configuration,
///       credentials: { "token-" + $0.account }, fulfil: { _ in })
///     let sale = try await shop.purchase("coins.100", for: "alice")
///     #expect(sale.isFulfilled)
///   }
/// }
/// ```
///
/// Code that waits for anything else than the lab (a real network, `Task.sleep`, `Task.yield`, a dispatch queue, the main
/// actor) belongs in ``outside(_:)``.
public final class AppLab: Sendable {
  /// The mock store and the mock backend, which listen to no port: set faults, revoke tokens, look at the ledger.
  public let server: MockServer
  let queue: VirtualQueue
  let beginning: Timestamp
  let folder: String
  private let random: Locked<SplitMix64>
  private let phones = Locked<[String: LabPhone]>([:])

  /// Runs a test in a lab of its own, and ends the lab with it.
  ///
  /// - Parameters:
  ///   - products: What the store sells.
  ///   - seed: The seed of the random numbers: the jitter of retries, tokens and ids.
  ///   - beginning: The wall clock at the start.
  ///   - longest: How much virtual time the run may take.
  ///   - patience: How much of the system's time one task may hold the lab.
  ///   - body: The test. `#expect` works in it.
  /// - Returns: The result of `body`.
  /// - Throws: What `body` throws; ``AppLabError`` if it can never return, or if a purchase was delivered too late or
  ///   something ran without a pace.
  public static func run<R: Sendable>(
    products: [StoreProduct], seed: UInt64 = 0,
    beginning: Date = Date(timeIntervalSince1970: 1_767_225_600), longest: Duration = .seconds(400 * 86_400),
    patience: Duration = .seconds(60), _ body: @escaping @Sendable (AppLab) async throws -> R
  ) async throws -> R {
    let folder = FileManager.default.temporaryDirectory.path + "/AppLab-" + UUID().uuidString
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    let result: Result<R, any Error>
    let queue = VirtualQueue(longest: longest.inMilliseconds, patience: patience / .seconds(1))
    do {
      let lab = try AppLab(products, seed, beginning, queue, folder)
      result = .success(
        try await lab.queue.run {
          let result = try await body(lab)
          try lab.judge()
          return result
        })
    } catch {
      result = .failure(AppLabError(error) ?? error)
    }
    try FileManager.default.removeItem(atPath: folder)
    return try result.get()
  }

  private init(
    _ products: [StoreProduct], _ seed: UInt64, _ beginning: Date, _ queue: VirtualQueue, _ folder: String
  ) throws {
    let beginning = Timestamp(milliseconds: Int64((beginning.timeIntervalSince1970 * 1_000).rounded()))
    (self.queue, self.beginning, self.folder) = (queue, beginning, folder)
    random = Locked(SplitMix64(seed: seed))
    server = try MockServer(
      databasePath: folder + "/backend.sqlite", products: products, bundleID: "com.example.lab", seed: seed,
      now: { beginning.adding(milliseconds: queue.now) })
  }

  /// A phone; the same one for the same name.
  ///
  /// - Parameters:
  ///   - name: A name of your choice, such as `old phone`.
  ///   - storeAccount: The Apple ID that is signed in on it at first.
  public func phone(_ name: String = "phone", storeAccount: String = "apple-id") -> LabPhone {
    phones.withLock { phones in
      if let phone = phones[name] { return phone }
      let phone = LabPhone(name, in: self)
      phones[name] = phone
      server.withStore { $0.signIn(device: name, storeAccount: storeAccount) }
      return phone
    }
  }

  // MARK: Judging

  /// How long deliveries took, and how often the app's parts were called.
  public var figures: LabFigures { LabFigures(judged) }

  private var judged: [PhoneJudge] {
    phones.value.values.sorted { $0.name < $1.name }.map { $0.judged() }
  }

  /// Throws the first promise that an app has broken.
  private func judge() throws(AppLabError) {
    for broken in judged.compactMap(\.broken) { throw broken }
  }

  // MARK: Time

  /// The time of store and backend, and of phones whose clock is right.
  public var now: Date { server.moment.date }

  /// Lets time pass. What is due in the meantime happens at its time and in its order.
  public func pass(_ time: Duration) async throws {
    try await queue.sleep(time.inMilliseconds)
    await work()
  }

  /// Returns when all is done that needs no time. The clock does not move.
  public func settle() async { await queue.settle() }

  /// Lets time pass until the condition holds. It is asked whenever something was due and all is done.
  public func until(_ condition: () async throws -> Bool) async throws {
    await queue.settle()
    while try await !condition() {
      await queue.waitForAlarm()
      await queue.settle()
      await work()
    }
  }

  /// Runs work that waits for anything else than the lab: a real network, the system's time, another thread, the main
  /// actor. The lab's time stands still in the meantime, so this work must not wait for the lab.
  public func outside<R: Sendable>(_ work: @escaping @Sendable () async throws -> R) async throws -> R {
    try await queue.outside(work)
  }

  /// What store and backend have to do by themselves: renewals, and notifications.
  func work() async {
    let server = self.server
    await server.goOn { body in
      let request = BackendRequest(
        method: "POST", path: String(MockState.notificationPath.dropFirst()), headers: [:], body: body)
      return server.response(to: request).status
    }
  }

  // MARK: The parts of an engine

  func system() -> SystemDependencies {
    let (queue, random, begin) = (self.queue, self.random, ContinuousClock.now)
    return SystemDependencies(
      executor: { VirtualExecutor(queue) },
      uptime: { begin.advanced(by: .milliseconds(queue.now)) },
      sleep: { try await queue.sleep($0) },
      patience: { try await queue.sleep($0) },
      random: { random.withLock { $0.next() } },
      uuid: { random.withLock { $0.nextUUID() } },
      elsewhere: { queue.call($0) })
  }
}
