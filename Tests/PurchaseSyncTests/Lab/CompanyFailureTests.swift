import Foundation
import PurchaseQueue
import PurchaseSQLite
import PurchaseSyncTesting
import Testing

@testable import PurchaseSync

/// A backend with a protocol of its own that fails in the middle of an upload, or says odd things.
@Suite struct CompanyFailureTests {
  /// Answers the n-th call, from 1 on.
  private final class Company: PurchaseBackend {
    let ledgerEpoch: String
    let answer: @Sendable (UploadedPurchase, Int) async throws -> BackendVerdict
    let asked = Locked<[String]>([])

    init(
      epoch: String = "1",
      _ answer: @escaping @Sendable (UploadedPurchase, Int) async throws -> BackendVerdict
    ) {
      (ledgerEpoch, self.answer) = (epoch, answer)
    }

    func verify(_ purchase: UploadedPurchase, for owner: BackendCaller) async throws -> BackendVerdict {
      let number = asked.withLock { asked in
        asked.append(purchase.transactionID)
        return asked.count
      }
      return try await answer(purchase, number)
    }
  }

  private struct Broken: Error {}

  // MARK: The answer to an upload

  private func upload(_ count: Int, to company: Company) async throws -> BackendResponse {
    let claims = (1...count).map { number in
      Claim(
        transactionID: "\(number)", environment: "Production", productID: "p", quantity: 1,
        purchasedAt: Timestamp(milliseconds: 1), match: .none)
    }
    let upload = UploadRequest(device: UUID(), proof: nil, claims: claims)
    return try await AskedBackend(company).send(upload)
  }

  private func reply(_ response: BackendResponse) throws -> UploadReply {
    #expect(response.status == 200)
    return try JSONDecoder().decode(UploadReply.self, from: response.body)
  }

  private static let failures: [any Error & Sendable] = [
    BackendFailure.busy(retryAfter: .seconds(90)), BackendFailure.busy(), BackendFailure.tokenRefused,
    Broken(),
    CancellationError(),
  ]

  @Test(arguments: failures.indices)
  func `the verdicts before a claim that fails count, and what follows is pending`(failure: Int) async throws
  {
    let company = Company { _, number in
      if number > 2 { throw Self.failures[failure] }
      return .granted
    }
    let reply = try reply(await upload(5, to: company))
    #expect(reply.verdicts.map(\.verdict) == [.granted, .granted, .pending, .pending, .pending])
    #expect(reply.verdicts.map(\.transactionID) == ["1", "2", "3", "4", "5"])
    #expect(company.asked.value == ["1", "2", "3"])
  }

  @Test func `a purchase that is refused holds up no other of its upload`() async throws {
    let company = Company { _, number in
      if number != 2 { throw BackendFailure.refused(reason: "no") }
      return .granted
    }
    let reply = try reply(await upload(3, to: company))
    #expect(company.asked.value == ["1", "2", "3"])
    #expect(reply.verdicts.first { $0.verdict == .granted }?.transactionID == "2")
    #expect(reply.verdicts.filter { $0.verdict == .pending }.map(\.transactionID) == ["1", "3"])
    // Nothing but refusals is a refusal of the request.
    let refusing = Company { _, _ in throw BackendFailure.refused(reason: "no") }
    #expect(try await upload(3, to: refusing).status == 422)
  }

  private static let pauses: [(Duration?, String?)] = [
    (nil, nil), (.zero, "0"), (.milliseconds(1), "1"), (.milliseconds(1_500), "2"), (.seconds(90), "90"),
    (.seconds(-5), "0"), (.seconds(400 * 86_400), "31536000"),
  ]

  @Test(arguments: pauses)
  func `a pause is sent in seconds and is never shortened, with verdicts and without`(
    pause: Duration?, field: String?
  ) async throws {
    let busy = Company { _, _ in throw BackendFailure.busy(retryAfter: pause) }
    let refusal = try await upload(2, to: busy)
    #expect(refusal.status == 503)
    #expect(refusal.retryAfter == field)
    let later = Company { _, number in
      if number > 1 { throw BackendFailure.busy(retryAfter: pause) }
      return .granted
    }
    let answer = try await upload(2, to: later)
    #expect(answer.status == 200)
    #expect(answer.retryAfter == field)
  }

  @Test func `the pause of one purchase is sent in seconds`() async throws {
    let company = Company { _, _ in .pending(reason: "the store is slow", retryAfter: .milliseconds(90_500)) }
    let verdict = try #require(try reply(await upload(1, to: company)).verdicts.first)
    #expect(verdict.retryAfter == 90.5)
    #expect(verdict.waitMilliseconds == 90_500)
  }

  @Test func `a verification that is cancelled is no failure of the backend`() async throws {
    let company = Company { _, _ in throw CancellationError() }
    await #expect(throws: TransportError(.cancelled, reason: "the task was cancelled")) {
      try await upload(1, to: company)
    }
  }

  @Test func `a URL session that answers a cancelled task with its own error is no failure either`()
    async throws
  {
    let company = Company { _, _ in throw URLError(.cancelled) }
    let task = Task {
      while !Task.isCancelled { await Task.yield() }
      return try await upload(1, to: company)
    }
    task.cancel()
    await #expect(throws: TransportError(.cancelled, reason: "the task was cancelled")) {
      try await task.value
    }
    // The same error of a task that goes on is one.
    await #expect(throws: TransportError(reason: "the backend failed with URLError")) {
      try await upload(1, to: company)
    }
  }

  // MARK: Delivered all the same

  private static let gems = [StoreProduct(id: "gems", kind: .consumable)]

  private func shop(
    _ app: LabApp, _ company: Company, _ outcomes: Locked<[Outcome]>, waiting: Duration = .seconds(30),
    log: (@Sendable (SyncLogRecord) -> Void)? = nil
  ) -> Shop {
    var configuration = app.configuration
    configuration.log = log
    return Shop(
      store: app.store, backend: company, configuration: configuration, lifecycle: .explicit,
      waiting: waiting,
      credentials: { "token-" + $0.account }, fulfil: { outcome in outcomes.withLock { $0.append(outcome) } })
  }

  @Test(arguments: ["", " ", "\u{0}", "e\u{301}", String(repeating: "n", count: 9_000)])
  func `a granted purchase is delivered, whatever text the ledger's epoch is`(epoch: String) async throws {
    try await AppLab.run(products: Self.gems) { lab in
      let outcomes = Locked<[Outcome]>([])
      for launch in 1...2 {
        try await lab.phone().launch { app in
          let company = Company(epoch: epoch) { _, _ in .granted }
          let shop = shop(app, company, outcomes)
          #expect(try await shop.purchase("gems", for: "alice").isFulfilled)
          try await lab.pass(.seconds(3_600))
          #expect(company.asked.value.count == 1)
          await shop.close()
        }
        #expect(outcomes.value.count == launch)
      }
    }
  }

  /// Grants one purchase, then asks for an hour's pause.
  @Test(arguments: [false, true])
  func `a backend that asks for a pause in the middle of an upload is left alone`(isKilled: Bool) async throws
  {
    try await AppLab.run(products: Self.gems) { lab in
      let (mode, outcomes, log) = (Locked("down"), Locked<[Outcome]>([]), Locked<[String]>([]))
      let (busySince, early) = (Locked<Date?>(nil), Locked(0))
      let company = Company { _, _ in
        if let since = busySince.value, lab.now.timeIntervalSince(since) < 3_600 {
          early.withLock { $0 += 1 }
        }
        switch mode.value {
        case "down": throw BackendFailure.busy(retryAfter: .seconds(1))
        case "one":
          mode.withLock { $0 = "busy" }
          return .granted
        case "busy":
          busySince.withLock { $0 = $0 ?? lab.now }
          throw BackendFailure.busy(retryAfter: .seconds(3_600))
        default: return .granted
        }
      }
      @Sendable func impatient(_ shop: Shop) async throws {
        for _ in 0..<50 {
          try await lab.pass(.seconds(70))
          try await shop.retryNow()
        }
        #expect(early.value == 0)
        mode.withLock { $0 = "up" }
        try await lab.pass(.seconds(1_200))
        #expect(outcomes.value.count == 4)
        await shop.close()
      }
      try await lab.phone().launch { app in
        let shop = shop(app, company, outcomes, waiting: .zero) { record in
          log.withLock { $0.append(record.description) }
        }
        for _ in 1...3 { _ = try await shop.purchase("gems", for: "alice") }
        mode.withLock { $0 = "one" }
        try await lab.until { busySince.value != nil && outcomes.value.count == 1 }
        #expect(!log.value.contains { $0.contains("claims were not answered") })
        // Another account's purchase does not break the pause.
        _ = try await shop.purchase("gems", for: "bob")
        if isKilled { await app.die() }
        try await impatient(shop)
      }
      guard isKilled else { return }
      try await lab.phone().launch { app in try await impatient(shop(app, company, outcomes)) }
    }
  }
}
