import AppStoreReceipts
import CommandLineTools
import Foundation
import ProcessFaults
import PurchaseQueue
import PurchaseSQLite
import PurchaseSync
import PurchaseSyncTesting
import ScenarioFormat

/// The environment of one run: a mock server on a port of its own, the phone's files, and what happens to them.
final class ScenarioEnvironment {
  let device: Device
  let server: MockServer
  let log: RunLog?
  let delivery: DeliveryWatch
  /// Nil without a specification.
  private let trace: StepTrace?
  /// The clock of store, backend and phones.
  let clock: RunClock
  /// How far they are ahead of it, in milliseconds.
  private(set) var shift: Int64 = 0
  private var backup: BackendBackup?

  init(
    _ scenario: Scenario, on device: Device, seed: UInt64, log: RunLog?, trace: StepTrace?,
    onRequest: @escaping @Sendable (RequestMoment) -> Void
  ) throws {
    self.device = device
    self.log = log
    let served = Locked<MockServer?>(nil)
    self.trace = trace
    let clock = try RunClock(at: device.directory + "/run-clock", rate: scenario.timeScale)
    self.clock = clock
    let delivery = DeliveryWatch { clock.now() }
    self.delivery = delivery
    server = try MockServer(
      databasePath: device.environment, products: ServedProducts.all, bundleID: ServeCommand.bundleID,
      environment: scenario.environment, seed: seed,
      onRequest: { moment in
        log?.saw(moment)
        trace?.passed(moment)
        if moment.phase == .beforeHandling { delivery.requested(fault: moment.fault) }
        if moment.phase == .afterHandling, moment.method == "POST" { served.value?.measure(delivery) }
        onRequest(moment)
      }, now: { clock.now() })
    served.withLock { [server] in $0 = server }
    // A planned answer is that of a broken backend; where answers are signed, that of another server.
    trace?.watch(server, makesUpAnswers: !scenario.signsReplies)
    try server.start()
    if scenario.verifiesOverHTTP { server.verifyOverHTTP() }
    if scenario.signsReplies { server.signReplies(with: Scenario.signature) }
    server.finishAtStore(scenario.finishesAtStore)
    server.withStore { store in
      for phone in scenario.phones { store.signIn(device: phone, storeAccount: Scenario.storeAccount) }
      store.notifications.versions = [.two]
    }
  }

  func perform(_ step: EnvironmentStep) throws {
    let told = step.words
    log?.note(told.lane, .change, told.text)
    defer {
      trace?.observe()
      server.measure(delivery)
    }
    switch step {
    case .faults(let document): server.setFaults(document)
    case .wait(let milliseconds): pass(milliseconds)
    case .backendBackedUp: backup = try server.backUp()
    case .backendRestored:
      guard let backup else {
        throw ScenarioProblem(path: [], message: "the backend was restored without a backup")
      }
      try server.restore(backup)
      trace?.backendRestored()
    case .phoneBackedUp:
      try device.backUp()
      trace?.note(.backedUp(phone: device.name))
    case .phoneRestored:
      try device.restore()
      trace?.note(.setBack(phone: device.name))
    case .phoneCloned(let other):
      try device.clone(to: device.phone(other))
      trace?.note(.copied(to: other, from: device.name))
    case .earlierVersion: try device.rewriteAsEarlierVersion()
    case .damaged(let place): try device.damage(EnvironmentStep.Damage(rawValue: place) ?? .page)
    default: try performInStore(step)
    }
  }

  private func performInStore(_ step: EnvironmentStep) throws {
    let now = server.moment
    try server.withStore { (store) throws(StoreModelError) in
      switch step {
      case .boughtOutside(let product, let account, let count):
        for _ in 0..<count {
          _ = try store.pay(product: product, quantity: 1, accountToken: nil, storeAccount: account, now: now)
        }
      case .promoted(let product, let account):
        _ = try store.promote(product: product, storeAccount: account, now: now)
      case .payment(let account, let asksToBuy, let interruptions):
        store.setAccount(account, asksToBuy: asksToBuy, interruptedPurchases: interruptions)
      case .approved:
        for request in store.requests where request.state == .waiting {
          try store.approve(requestID: request.id, now: now)
        }
      case .refunded(let number, let extent):
        _ = try store.refund(transactionID: Self.charge(number, store), extent, now: now)
      case .refundReversed(let number):
        _ = try store.reverseRefund(transactionID: Self.charge(number, store), now: now)
      case .family(let account, let members): store.setFamily(of: account, to: members, now: now)
      case .planChanged(let number, let product):
        _ = try store.changePlan(transactionID: Self.charge(number, store), to: product, now: now)
      case .bundle(.tokens(let tokens)): store.bundleTokens = tokens
      case .bundle(.left(let number, let keeps)):
        _ = try store.leaveBundle(transactionID: Self.charge(number, store), keeps: keeps, now: now)
      case .bundle(.elsewhere(let members, let account)):
        let bundle = StoreProduct(
          bundle: "partners.monthly", of: members.map { .init($0) }, period: .seconds(30 * 86_400))
        _ = try store.receive(bundle, soldElsewhereTo: account, now: now)
      case .seat(let step): try Self.change(step, &store, now: now)
      case .renewal(let number, let isOn):
        _ = try store.setRenewal(on: isOn, transactionID: Self.charge(number, store), now: now)
      case .billing(let account, let works): store.setBilling(works: works, storeAccount: account, now: now)
      case .consentRescinded(let account): try store.rescindConsent(storeAccount: account, now: now)
      case .delivery(let proofs, let forgetsToken):
        store.delivery = StoreDelivery(
          proofs: proofs.map(ProofKind.init(rawValue:)), forgetsToken: forgetsToken)
      case .receiptLacks(let purchases, let readings):
        store.faults.lackedPurchases = purchases
        store.faults.lackingReadings = readings
      case .repeatsTransactions: store.faults.repeatsTransactions = true
      case .listsFinished(let isOn): store.faults.listsFinished = isOn
      case .storeAccount(let account): store.signIn(device: Scenario.phone, storeAccount: account)
      default: break
      }
    }
  }

  /// The id of the n-th charge. If there is none, the store refuses the id.
  static func charge(_ number: Int, _ store: StoreModel) -> String {
    let charges = store.charges
    return charges.indices.contains(number - 1) ? charges[number - 1].transactionID : "charge \(number)"
  }

  /// How many purchases are granted now.
  func granted() throws -> Int { MockTally(try server.snapshot()).granted }

  /// Time passes in steps of the backend's job: renewals are charged, notifications posted.
  private func pass(_ milliseconds: Int64) {
    var left = milliseconds
    while left > 0 {
      let step = min(left, 43_200_000)
      server.moveClock(by: .milliseconds(step))
      goOn()
      left -= step
    }
    shift += milliseconds
  }

  /// Store and backend do what is due until now. Blocks its thread.
  func goOn() {
    let (server, backend) = (server, URLSessionTransport(base: server.baseURL, timeout: 60))
    let done = DispatchSemaphore(value: 0)
    Task.detached {
      await server.goOn { await backend.post($0) }
      done.signal()
    }
    done.wait()
  }
}

extension MockServer {
  /// Shows charges and credits to the measurement.
  fileprivate func measure(_ delivery: DeliveryWatch) {
    do {
      let now = try snapshot()
      delivery.look(
        charged: now.charges.map(\.transactionID), credited: now.credits.map(\.transaction.transactionID))
    } catch {
      Terminal.complain("not measured: \(error)")
    }
  }
}

extension URLSessionTransport {
  /// Posts one of the store's notifications; nil for no answer.
  func post(_ notification: Data) async -> Int? {
    let request = BackendRequest(
      method: "POST", path: "v1/notifications/appstore", headers: ["Content-Type": "application/json"],
      body: notification)
    do throws(TransportError) {
      return try await send(request).status
    } catch {
      // The store's queue tries again later.
      return nil
    }
  }
}

extension EnvironmentStep {
  /// For a report.
  var words: (lane: Report.Lane, text: String) {
    switch self {
    case .faults(let document):
      let rules = document.rules.map { rule in
        let count = rule.count.map { "\($0) times" } ?? "from now on"
        return "\(rule.fault.word) at \(rule.path), \(count)"
      }
      return (.backend, rules.isEmpty ? "no more faults" : "will fail: " + rules.joined(separator: "; "))
    case .wait(let milliseconds): return (.person, "\(Self.length(milliseconds)) pass")
    case .boughtOutside(let product, let account, let count):
      return (.store, "\(account) buys \(product) outside of the app, \(count) times")
    case .promoted(let product, let account): return (.store, "\(account) taps \(product) in the store")
    case .payment(let account, let asksToBuy, let interruptions):
      return (
        .store, "\(account): \(asksToBuy ? "asks to buy" : "\(interruptions) purchases are interrupted")"
      )
    case .approved: return (.store, "waiting purchases are approved and charged")
    case .refunded(let number, let extent):
      let part =
        switch extent {
        case .whole, .share: ""
        case .units(let units): ": \(units) units of it"
        case .timeLeft: ": the price of the time that is left"
        }
      return (.store, "charge \(number) is refunded" + part)
    case .refundReversed(let number): return (.store, "the refund of charge \(number) is taken back")
    case .family(let account, let members):
      return (
        .store,
        "the family of \(account): \(members.isEmpty ? "no members" : members.joined(separator: ", "))"
      )
    case .planChanged(let number, let product):
      return (.store, "the subscription of charge \(number) changes to \(product)")
    case .bundle(let step): return (.store, step.words)
    case .seat(let step): return (.store, step.words)
    case .renewal(let number, let isOn):
      return (.store, "charge \(number) \(isOn ? "renews" : "does not renew") from now on")
    case .billing(let account, let works):
      return (.store, "the bank \(works ? "pays" : "refuses to pay") for \(account)")
    case .consentRescinded(let account):
      return (.store, "a parent no longer lets \(account) use the app")
    case .delivery(let proofs, let forgetsToken):
      return (
        .store, "hands over \(proofs.joined(separator: ", "))\(forgetsToken ? ", later without token" : "")"
      )
    case .receiptLacks(let purchases, let readings):
      return (.store, "the app receipt lacks \(purchases) purchases for \(readings) readings")
    case .repeatsTransactions: return (.store, "answers with earlier transactions")
    case .listsFinished(let isOn): return (.store, "lists finished transactions \(isOn ? "too" : "no more")")
    case .backendBackedUp: return (.backend, "a backup is made")
    case .backendRestored: return (.backend, "restored from its backup")
    case .storeAccount(let account): return (.person, "signs in to the store as \(account)")
    case .phoneBackedUp: return (.app, "the phone is backed up")
    case .earlierVersion: return (.app, "the file becomes one of an earlier version")
    case .phoneRestored: return (.app, "the phone's files are restored from the backup")
    case .phoneCloned(let other): return (.app, "the phone's files are restored on \(other)")
    case .damaged(let place): return (.app, "the app's file is damaged: \(place)")
    }
  }

  private static func length(_ milliseconds: Int64) -> String {
    let hours = milliseconds / 3_600_000
    return hours >= 48 ? "\(hours / 24) days" : hours > 0 ? "\(hours) h" : "\(milliseconds) ms"
  }
}
