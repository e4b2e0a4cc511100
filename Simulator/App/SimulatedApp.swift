import FaultInjection
import Foundation
import PurchaseQueue
import PurchaseSync
import PurchaseSyncTesting

#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// The app on the phone: one run of it, from launch until nothing is left to do, or until it is killed.
struct SimulatedApp {
  let options: AppOptions

  func execute() async -> Int32 {
    ParentWatch.start {}
    endLater()
    let trace = AppTrace(isOn: options.isTraced)
    let parts = AppParts(
      options: options, failpoints: Failpoints(options.crash, onPass: trace.passed),
      phone: PhoneState(signedIn: options.signedIn, clockShift: options.clockShift), trace: trace)
    do {
      try FileManager.default.createDirectory(
        atPath: options.container, withIntermediateDirectories: true)
      let store = MockStoreClient(base: options.store ?? options.server, device: Scenario.phone)
      try await AppLife(parts, store, try await Self.client(parts, store)).live()
      writeCounts(parts.failpoints)
      return ExitCode.ok
    } catch {
      Terminal.error("app: \(error)")
      return ExitCode.internal
    }
  }

  private static func client(_ parts: AppParts, _ store: MockStoreClient) async throws -> any AppClient {
    switch parts.options.client {
    case .engine: try await EngineClient(parts, store)
    case .fireAndForget: FireAndForgetClient(parts, store)
    case .finishFirst: RetryingClient(parts, store, try FinishFirst(parts, store))
    case .defaultsList: RetryingClient(parts, store, try DefaultsList(parts, store))
    case .receiptOnly: ReceiptOnlyClient(parts, store)
    case .keychainList: RetryingClient(parts, store, try KeychainList(parts, store))
    }
  }

  /// The story's time is over at some time, whatever the app is doing then.
  private func endLater() {
    let uses = options.steps.map { step -> Int64 in
      guard case .use(let milliseconds) = step else { return 0 }
      return milliseconds
    }
    let most = options.seconds * 1_000 + uses.reduce(0, +)
    DispatchQueue.global().asyncAfter(deadline: .now() + .milliseconds(Int(most) + 500)) {
      Terminal.error("app: the story's time is over")
      _exit(ExitCode.ok)
    }
  }

  /// Which failpoints were passed how often, for whoever plans kills.
  private func writeCounts(_ failpoints: Failpoints) {
    guard let path = options.counts else { return }
    do {
      try JSONEncoder().encode(failpoints.counts).write(to: URL(fileURLWithPath: path))
    } catch {
      Terminal.error("app: \(path) could not be written: \(error.localizedDescription)")
    }
  }
}

/// A run of the app, step by step.
struct AppLife {
  private let parts: AppParts
  private let store: MockStoreClient
  private let client: any AppClient

  init(_ parts: AppParts, _ store: MockStoreClient, _ client: any AppClient) {
    (self.parts, self.store, self.client) = (parts, store, client)
  }

  func live() async throws {
    var steps = parts.options.steps[...]
    // A disk that is full when the app starts is full before it has looked at the store.
    while steps.first == .fillDisk {
      steps.removeFirst()
      parts.trace.note(.person, to: .app, .step, AppStep.fillDisk.words)
      await attempt(AppStep.fillDisk.words) { try DiskSpace.end() }
    }
    await attempt("launch") { try await client.launched() }
    for step in steps {
      parts.trace.note(.person, to: .app, .step, step.words)
      await attempt(step.words) { try await perform(step) }
    }
    // The story says how long the app is open, or it is open until nothing is left to do.
    if case .use? = parts.options.steps.last {
    } else {
      await attempt("use") { try await use(milliseconds: parts.options.seconds * 1_000) }
    }
    await client.close()
  }

  /// What fails is not the end of the app: a person sees an alert, and goes on.
  private func attempt(_ what: String, _ body: () async throws -> Void) async {
    do {
      try await body()
    } catch {
      parts.trace.note(.app, .fault, "\(what): failed", detail: "\(error)")
      Terminal.error("app: \(what): \(error)")
    }
  }

  private func perform(_ step: AppStep) async throws {
    let phone = parts.phone
    switch step {
    case .buy(let product, let account):
      phone.signIn(account)
      let token = try await client.order(product: product, account: account)
      try await pay(product, token: token, account: account)
    case .buyWithoutOrder(let product): try await pay(product, token: nil, account: phone.user)
    case .buyPromoted(let account): try await buyPromoted(account)
    case .signIn(let account):
      phone.signIn(account)
      try await client.signedIn(account)
    case .signOut(let account): phone.signOut(account)
    case .claim(let account): try await client.claim(for: account)
    case .useStoreAccount(let account):
      try await store.signIn(account)
      try await client.settingsChanged()
    case .jumpClock(let milliseconds):
      phone.jump(by: milliseconds)
      // The system tells apps that the clock was set.
      try await client.settingsChanged()
    case .fillDisk: try DiskSpace.end()
    case .use(let milliseconds): try await use(milliseconds: milliseconds)
    }
  }

  private func pay(_ product: String, token: UUID?, account: String?) async throws {
    parts.failpoints.pass("payment.before")
    let result = try await store.purchase(product: product, accountToken: token)
    parts.failpoints.pass("payment.after")
    switch result {
    case .purchased(let transaction): try await client.took(transaction, account: account)
    case .pending: parts.trace.note(.store, to: .app, .answer, "pending: somebody has to agree")
    case .cancelled: parts.trace.note(.store, to: .app, .answer, "cancelled")
    }
  }

  private func buyPromoted(_ account: String) async throws {
    parts.phone.signIn(account)
    for product in try await store.promoted() {
      let token = try await client.order(product: product.productID, account: account)
      parts.failpoints.pass("payment.before")
      try await store.approve(requestID: product.requestID, accountToken: token)
      parts.failpoints.pass("payment.after")
      for transaction in try await store.unfinished().transactions {
        try await client.took(transaction, account: account)
      }
    }
  }

  private func use(milliseconds: Int64) async throws {
    let end = ContinuousClock.now.advanced(by: .milliseconds(milliseconds))
    while ContinuousClock.now < end, !(try await client.isDone()) {
      try await Task.sleep(for: .milliseconds(2))
    }
  }
}

extension AppStep {
  /// As a person would say it.
  var words: String {
    switch self {
    case .buy(let product, let account): "\(account) buys \(product)"
    case .buyWithoutOrder(let product): "buys \(product) without an order"
    case .buyPromoted(let account): "\(account) goes on with what was begun in the store"
    case .signIn(let account): "\(account) signs in"
    case .signOut(let account): "\(account) signs out"
    case .claim(let account): "\(account) claims what the device bought"
    case .useStoreAccount(let name): "signs in to the store as \(name)"
    case .jumpClock(let milliseconds): "sets the clock by \(milliseconds / 3_600_000) h"
    case .fillDisk: "fills the disk"
    case .use(let milliseconds): "uses the app, \(milliseconds) ms at most"
    }
  }
}

/// The disk of the phone.
enum DiskSpace {
  /// From now on no file of this process can grow: each write fails (EFBIG, not ENOSPC, which needs a disk of one's own).
  static func end() throws {
    // Else the process is killed for trying.
    signal(SIGXFSZ, SIG_IGN)
    var limit = rlimit(rlim_cur: 0, rlim_max: rlim_t.max)
    #if os(Linux)
      let result = unsafe setrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &limit)
    #else
      let result = unsafe setrlimit(RLIMIT_FSIZE, &limit)
    #endif
    guard result == 0 else { throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EINVAL) }
  }
}
