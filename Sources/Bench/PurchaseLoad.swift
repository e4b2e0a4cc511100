import Foundation
import PurchaseQueue
import PurchaseSQLite
import PurchaseSync

/// The hidden command `bench-purchase`: what an app does with a shop, in a process of its own.
package struct PurchaseLoad: Equatable, Sendable {
  package enum Work: String, CaseIterable, Sendable {
    /// Purchases through a shop, one after another.
    case shop
    /// Transactions into the file, while the backend is away.
    case fill
    /// A shop that sends and confirms what is in the file.
    case drain
    /// Opens the file with all that is in it, again and again.
    case open
    /// Syncs of a plain file.
    case sync
  }

  /// What a process of `shop` measures of one purchase. Medians.
  struct Figures: Codable {
    /// From the call of `purchase` until each step.
    var steps: [Double] = []
    /// Of the process, until the transaction is finished at the store.
    var processorMilliseconds = 0.0
    /// Statements of SQLite that began.
    var statements = 0.0
  }

  package var work = Work.shop
  package var path = ""
  package var count = 0

  package init() {}

  /// Runs it. Returns what the command prints; nil for nothing.
  package func run() async throws -> String? {
    try StatementCount.install()
    let steps = PurchaseSteps()
    let store = QuickStore(serial: Int64(Date().timeIntervalSince1970 * 1e6), steps)
    switch work {
    case .shop: return try await purchases(store, steps)
    case .fill: try await fill(store)
    case .drain: try await drain(store)
    case .open: return "\(try await opening(store))"
    case .sync: return "\(try syncs())"
    }
    return nil
  }

  private var configuration: SyncConfiguration {
    var configuration = SyncConfiguration(path: path)
    configuration.limits = QueueLimits(
      entries: 20_000, totalBytes: 1 << 30, tombstones: 20_000, tombstoneBytes: 64 << 20,
      unconfirmedOutcomes: 20_000)
    return configuration
  }

  private func shop(
    _ store: QuickStore, _ steps: PurchaseSteps? = nil, fulfil: @escaping @Sendable () -> Void
  ) -> Shop {
    Shop(
      store: store, backend: QuickBackend(steps), configuration: configuration, credentials: { _ in "token" },
      fulfil: { _ in fulfil() })
  }

  private func purchases(_ store: QuickStore, _ steps: PurchaseSteps) async throws -> String {
    let shop = shop(store, steps) { steps.reach(.fulfilled) }
    try await shop.signedIn(as: "alice")
    var (times, processor, statements): ([[Double?]], [Double], [Double]) = ([], [], [])
    for index in 0..<count {
      let (spent, run) = (ProcessorTime.now, StatementCount.value)
      steps.begin()
      guard case .delivered = try await shop.purchase(QuickStore.product, for: "alice") else {
        throw BenchError.unfinishedPurchases(told: index, of: count)
      }
      steps.reach(.returned)
      while store.finished <= index { try await Task.sleep(for: .microseconds(200)) }
      // What follows a purchase is a part of it: the end of the finish, and the pause after it.
      try await Task.sleep(for: .milliseconds(10))
      times.append(steps.milliseconds)
      processor.append(ProcessorTime.now - spent)
      statements.append(Double(StatementCount.value - run))
    }
    await shop.close()
    guard count > 0 else { return "" }
    let figures = Figures(
      steps: try PurchaseSteps.medians(times), processorMilliseconds: try Statistics.median(processor),
      statements: try Statistics.median(statements))
    return String(decoding: try JSONEncoder().encode(figures), as: UTF8.self)
  }

  private func fill(_ store: QuickStore) async throws {
    let engine = try await SyncEngine.open(
      configuration, store: store, transport: QuickBackend(isAway: true), credentials: { _ in "token" })
    for _ in 0..<count { try await engine.receive(store.transaction()) }
    await engine.shutdown()
  }

  /// The median time of an opening, in milliseconds.
  private func opening(_ store: QuickStore) async throws -> Double {
    let clock = ContinuousClock()
    var times: [Double] = []
    for _ in 0..<count {
      let began = clock.now
      let engine = try await SyncEngine.open(
        configuration, store: store, transport: QuickBackend(isAway: true), credentials: { _ in "token" })
      times.append(Double((clock.now - began).wholeNanoseconds) / 1e6)
      await engine.shutdown()
    }
    return try Statistics.median(times)
  }

  /// The median time to append a few bytes durably, in milliseconds.
  private func syncs() throws -> Double {
    let file = try AppendSubject(path: path)
    defer { file.close() }
    return try Samples.measure(count) { _ in try file.enqueue([0]) }.percentile(50) / 1e6
  }

  private func drain(_ store: QuickStore) async throws {
    let done = Locked(0)
    let shop = shop(store) { done.withLock { $0 += 1 } }
    try await shop.retryNow()
    let pause = Duration.milliseconds(2)
    while done.value < count || store.finished < count { try await Task.sleep(for: pause) }
    while try await !shop.syncEngine().snapshot().outcomes.isEmpty { try await Task.sleep(for: pause) }
    await shop.close()
  }
}
