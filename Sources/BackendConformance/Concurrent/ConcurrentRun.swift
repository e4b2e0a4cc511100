import AppStoreReceipts
import Foundation
import PurchaseSQLite
import PurchaseSync
import PurchaseSyncTesting

/// Many clients at the same backend at once. Some of their answers are cut off, and the backend is killed in between.
/// The history of calls and answers is checked for linearizability.
package struct ConcurrentRun: Sendable {
  package struct Plan: Sendable {
    /// How many requests are under way at once.
    package var clients: Int
    /// About how many requests are sent.
    package var operations: Int
    /// How often the backend is killed, if the site has a command for that.
    package var kills: Int
    /// One in so many requests loses its answer; 0 for none.
    package var cutsOneIn: Int
    package var seed: UInt64

    package init(clients: Int, operations: Int, kills: Int = 5, cutsOneIn: Int = 10, seed: UInt64 = 1) {
      (self.clients, self.operations, self.kills) = (max(1, clients), operations, kills)
      (self.cutsOneIn, self.seed) = (cutsOneIn, seed)
    }
  }

  /// What was asked and what came back, by object.
  package struct History: Sendable {
    /// By idempotency key.
    package var orders: [String: [HistoryCall<OrderModel>]] = [:]
    /// By transaction id.
    package var grants: [String: [HistoryCall<GrantModel>]] = [:]
    package var kills = 0
    /// How many units of the product the first account has more than before, and how many it should have.
    package var credited: (found: Int64, expected: Int64) = (0, 0)

    package var callCount: Int {
      orders.values.reduce(0) { $0 + $1.count } + grants.values.reduce(0) { $0 + $1.count }
    }

    package var unansweredCount: Int {
      orders.values.reduce(0) { $0 + $1.count { $0.output == nil } }
        + grants.values.reduce(0) { $0 + $1.count { $0.output == nil } }
    }
  }

  /// An order and its payment: what the calls of a round are about.
  struct Subject: Sendable {
    var key: String
    var order: ConformanceLab.MadeOrder?
    var paid: ConformanceLab.Paid?
  }

  let lab: ConformanceLab
  let plan: Plan
  private let history = Locked(History())
  private let moment = Locked(0)

  package init(_ lab: ConformanceLab, plan: Plan) { (self.lab, self.plan) = (lab, plan) }

  /// Calls for each subject: three orders, four about the payment, and three after all.
  private static let callsOfSubject = 10

  /// Sends all requests. Throws `ConformanceFailure` if the store or the backend refuses what they must not refuse.
  package func run(progress: (Int) -> Void = { _ in }) async throws -> History {
    let before = try await held()
    let count = max(1, plan.operations / Self.callsOfSubject)
    let rounds = (count + plan.clients - 1) / plan.clients
    var random = SplitMix64(seed: plan.seed)
    var subjects: [Subject] = []
    for round in 0..<rounds {
      var batch: [Subject] = []
      for _ in 0..<min(plan.clients, count - subjects.count) {
        batch.append(Subject(key: await lab.unique("key")))
      }
      let isKilled = lab.site.restart != nil && plan.kills > 0 && round % max(1, rounds / plan.kills) == 0
      subjects += try await play(batch, random: &random, isKilled: isKilled)
      await lab.begin()
      progress(history.value.callCount)
    }
    try await finish(subjects)
    var result = history.value
    result.credited = (try await held() - before, Int64(subjects.count))
    return result
  }

  private func held() async throws -> Int64 {
    let product = try await lab.productID()
    return try await lab.held(by: .alice, of: product)
  }

  // MARK: Rounds

  /// Makes the orders of some subjects, pays them, and uploads the payments; all with several requests at once.
  private func play(
    _ subjects: [Subject], random: inout SplitMix64, isKilled: Bool
  ) async throws -> [Subject] {
    var jobs: [Job] = []
    for subject in subjects { jobs += (0..<3).map { _ in Job(.order, subject, cut(&random)) } }
    try await perform(jobs)
    var paid: [Subject] = []
    for var subject in subjects {
      let order = try await knownOrder(subject)
      subject.order = order
      subject.paid = try await lab.pay(token: order.token, storeAccount: lab.unique("apple"))
      paid.append(subject)
    }
    jobs = []
    for (number, subject) in paid.enumerated() {
      // Of some payments only their owner knows.
      let second: Job.Kind = number.isMultiple(of: 2) ? .upload : .uploadByOther
      for kind in [Job.Kind.upload, second, .read, .upload] {
        jobs.append(Job(kind, subject, cut(&random)))
      }
    }
    if isKilled {
      async let killed: Void = lab.restart()
      try await perform(jobs)
      try await killed
      history.withLock { $0.kills += 1 }
    } else {
      try await perform(jobs)
    }
    return paid
  }

  /// The order of a subject: asked for until an answer comes.
  private func knownOrder(_ subject: Subject) async throws -> ConformanceLab.MadeOrder {
    for _ in 0..<20 {
      if let order = try await makeOrder(Job(.order, subject, nil), client: 0) { return order }
      try await lab.site.pause(.milliseconds(500))
    }
    throw ConformanceFailure("an answer to POST /v1/orders")
  }

  /// Asks for everything again, without a cut: what was answered has to be there.
  private func finish(_ subjects: [Subject]) async throws {
    for kind in [Job.Kind.order, .upload, .read] {
      try await perform(subjects.map { Job(kind, $0, nil) })
      await lab.begin()
    }
  }

  /// Milliseconds after which the answer is cut off; nil for a request that gets its answer.
  private func cut(_ random: inout SplitMix64) -> Int? {
    guard plan.cutsOneIn > 0, Int.random(in: 0..<plan.cutsOneIn, using: &random) == 0 else { return nil }
    return Int.random(in: 0...8, using: &random)
  }

  // MARK: Calls

  /// One request.
  struct Job: Sendable {
    enum Kind { case order, upload, uploadByOther, read }

    var kind: Kind
    var subject: Subject
    var cut: Int?

    init(_ kind: Kind, _ subject: Subject, _ cut: Int?) {
      (self.kind, self.subject, self.cut) = (kind, subject, cut)
    }
  }

  /// Sends the requests in their order, as many at once as there are clients.
  private func perform(_ jobs: [Job]) async throws {
    let next = Locked(0)
    try await withThrowingTaskGroup(of: Void.self) { group in
      for client in 1...plan.clients {
        group.addTask {
          while true {
            let number = next.withLock { next -> Int in
              defer { next += 1 }
              return next
            }
            guard number < jobs.count else { return }
            try await perform(jobs[number], client: client)
          }
        }
      }
      try await group.waitForAll()
    }
  }

  private func perform(_ job: Job, client: Int) async throws {
    guard job.kind != .order else {
      _ = try await makeOrder(job, client: client)
      return
    }
    guard let order = job.subject.order, let paid = job.subject.paid else { return }
    let input: GrantModel.Input
    let reply: ConformanceLab.Reply?
    let beganAt = tick()
    switch job.kind {
    case .read:
      input = .readOrder
      reply = try await send("GET", ConformanceLab.path(of: order.number), as: .alice, cut: job.cut)
    case .upload, .order:
      input = .uploadByOwner
      reply = try await upload(paid, order, as: .alice, cut: job.cut)
    case .uploadByOther:
      input = .uploadByOther
      reply = try await upload(paid, order, as: .bob, cut: job.cut)
    }
    let words = try reply.map { reply in
      input == .readOrder
        ? reply.json?["state"]?.string ?? "no state" : try verdict(in: reply, about: paid)
    }
    record(client, input, words, beganAt, of: paid.transactionID)
  }

  private func record(
    _ client: Int, _ input: GrantModel.Input, _ output: String?, _ beganAt: Int, of id: String
  ) {
    let call = HistoryCall<GrantModel>(
      client: client, input: input, output: output, beganAt: beganAt, answeredAt: tick())
    history.withLock { $0.grants[id, default: []].append(call) }
  }

  private func makeOrder(_ job: Job, client: Int) async throws -> ConformanceLab.MadeOrder? {
    let beganAt = tick()
    let product = try await lab.productID()
    let reply = try await send(
      "POST", "v1/orders", as: .alice, headers: ["Idempotency-Key": job.subject.key],
      json: ["productID": .string(product), "quantity": 1], cut: job.cut)
    let order = try reply.map { try ConformanceLab.order(in: $0) }
    let call = HistoryCall<OrderModel>(
      client: client, input: .init(), output: order?.number, beganAt: beganAt, answeredAt: tick())
    history.withLock { $0.orders[job.subject.key, default: []].append(call) }
    return order
  }

  private func upload(
    _ paid: ConformanceLab.Paid, _ order: ConformanceLab.MadeOrder, as caller: ConformanceLab.Caller,
    cut: Int?
  ) async throws -> ConformanceLab.Reply? {
    let claim = ConformanceLab.with(ConformanceLab.claim(paid, order: order.number), "proof", 0)
    return try await send(
      "POST", "v1/receipts", as: caller,
      json: [
        "device": .string(UUID().uuidString), "claims": .array([claim]),
        "proofs": .array([ConformanceLab.signed(paid)]),
      ], cut: cut)
  }

  private func verdict(in reply: ConformanceLab.Reply, about paid: ConformanceLab.Paid) throws -> String {
    let verdicts = reply.json?["verdicts"]?.array ?? []
    let found = verdicts.first { $0["transactionID"]?.string == paid.transactionID }
    return found?["verdict"]?.string ?? "no verdict"
  }

  /// The answer; nil if none came, or only one that says nothing, such as a 5xx.
  private func send(
    _ method: String, _ path: String, as caller: ConformanceLab.Caller, headers: [String: String] = [:],
    json: JSONValue? = nil, cut: Int?
  ) async throws -> ConformanceLab.Reply? {
    let reply = await withTaskGroup(of: ConformanceLab.Reply?.self) { group in
      group.addTask {
        do {
          return try await lab.send(method, path, as: caller, headers: headers, json: json)
        } catch {
          return nil  // No answer: recorded as such.
        }
      }
      if let cut {
        group.addTask {
          do { try await lab.site.pause(.milliseconds(cut)) } catch { return nil }
          return nil
        }
      }
      let first = await group.next() ?? nil
      // Closes the connection of a request that has no answer yet.
      group.cancelAll()
      return first
    }
    guard let reply, reply.status < 429 else { return nil }
    guard reply.isSuccess else {
      var failure = ConformanceFailure("a 2xx, and not \(reply.status) for \(method) /\(path)")
      failure.exchange = await lab.exchanges.last {
        $0.sent.hasPrefix("\(method) /\(path)") && $0.received.hasPrefix("\(reply.status)")
      }
      throw failure
    }
    return reply
  }

  private func tick() -> Int {
    moment.withLock { moment in
      moment += 1
      return moment
    }
  }
}
