import AppStoreReceipts
import Foundation
import PurchaseQueue
import PurchaseSQLite
import PurchaseSync
import PurchaseSyncTesting
import ScenarioFormat

/// What a mock server does, for the specification: as the store, and as the backend.
///
/// Called before and after each request, on the connection's thread. Before an answer is sent, everything is noted that it
/// depends on.
final class ServerSteps: Sendable {
  fileprivate struct Known {
    /// Of each transaction: its token, and whether it is refunded and finished by the backend.
    var charges: [String: Charge] = [:]
    var orders = 0
    var adoptions = 0
    /// The owner of each line of the ledger.
    var owners: [Uploader] = []
  }

  fileprivate struct Charge: Equatable {
    var token: UUID?
    var isRefunded: Bool
    var isPartlyRefunded: Bool
    var isFinishedByBackend: Bool
  }

  private let channel: StepChannel
  private let server = Locked<MockServer?>(nil)
  private let makesUpAnswers = Locked(false)
  private let known = Locked(Known())

  init(_ channel: StepChannel) { self.channel = channel }

  /// Before the server starts.
  ///
  /// - Parameter makesUpAnswers: Whether planned answers count as the backend's.
  func watch(_ server: MockServer, makesUpAnswers: Bool = false) {
    self.server.withLock { $0 = server }
    self.makesUpAnswers.withLock { $0 = makesUpAnswers }
    observe()
  }

  func passed(_ moment: RequestMoment) {
    let isUpload = moment.method == "POST" && moment.path == Scenario.uploads
    switch (moment.phase, moment.name) {
    case (.beforeHandling, let name?) where isUpload:
      let madeUp = makesUpAnswers.value ? answer(moment, to: name) : nil
      channel.note { [.receives(name)] + (madeUp.map { [$0] } ?? []) }
    case (.beforeHandling, _): return
    case (.afterHandling, let name): observe(isUpload ? answer(moment, to: name) : nil)
    }
  }

  /// Notes what has changed.
  func observe(_ answer: StepEvent? = nil) {
    guard let server = server.value else { return }
    channel.note {
      let snapshot = try server.snapshot()
      let transactions = server.withStore { $0.transactions }
      return known.withLock { known in
        known.changes(in: snapshot, transactions) + (answer.map { [$0] } ?? [])
      }
    }
  }

  /// The backend was set back to a backup.
  func restored() {
    guard let server = server.value else { return }
    channel.note {
      let owners = try server.snapshot().credits.map(\.owner)
      known.withLock { $0.owners = owners }
      return [.ledgerRestored(lines: owners.count)]
    }
  }

  private func answer(_ moment: RequestMoment, to name: String?) -> StepEvent? {
    guard let name, let body = moment.answer else { return nil }
    do {
      let reply = try JSONDecoder().decode(UploadReply.self, from: Data(body))
      return .answers(
        name,
        reply.verdicts.map { StepVerdict(transaction: $0.transactionID, verdict: $0.verdict.rawValue) })
    } catch {
      // No device receives verdicts in it either.
      return nil
    }
  }
}

extension ServerSteps.Known {
  fileprivate mutating func changes(
    in snapshot: MockSnapshot, _ transactions: [StoreTransactionRecord]
  ) -> [StepEvent] {
    var events = snapshot.orders.dropFirst(orders).map { order in
      StepEvent.ordered(number: order.number, token: order.accountToken, account: order.account)
    }
    orders = snapshot.orders.count
    var finished: [StepEvent] = []
    // The subscriptions of a bundle have one owner, as the periods of one subscription have.
    let bundles = Dictionary(
      transactions.compactMap { record in
        record.bundle?.originalTransactionID.map { (record.originalTransactionID, $0) }
      }, uniquingKeysWith: { first, _ in first })
    // Who paid is known by the token of any transaction of the payment.
    let bundleTokens = Dictionary(
      transactions.compactMap { record in
        record.bundle?.transactionID.flatMap { id in record.accountToken.map { (id, $0) } }
      }, uniquingKeysWith: { first, _ in first })
    for record in transactions {
      let id = record.transactionID
      let now = ServerSteps.Charge(
        // That of a seat is its purchaser's, or none.
        token: record.ownership == .purchased
          ? record.accountToken ?? record.bundle?.transactionID.flatMap { bundleTokens[$0] } : nil,
        isRefunded: record.isTakenBack,
        isPartlyRefunded: record.revokedAt != nil && !record.isTakenBack && !record.isUpgradedToBundle,
        isFinishedByBackend: record.finisher == .backend)
      let before = charges.updateValue(now, forKey: id)
      if before == nil || before?.token != now.token {
        let original = record.originalTransactionID
        events.append(.paid(id, token: now.token, original: bundles[original] ?? original))
      }
      let isPartNew = now.isPartlyRefunded && before?.isPartlyRefunded != true
      let isOver = before?.isPartlyRefunded == true && !now.isPartlyRefunded
      if isOver || before?.isRefunded ?? false != now.isRefunded {
        events.append(.refunded(id, now.isRefunded))
      }
      if isPartNew { events.append(.partlyRefunded(id)) }
      if now.isFinishedByBackend, before?.isFinishedByBackend != true {
        finished.append(.finishedByBackend(id))
      }
    }
    for adoption in snapshot.deviceAdoptions.dropFirst(adoptions) {
      events.append(.adopted(device: adoption.device.uuidString, account: adoption.account))
    }
    adoptions = snapshot.deviceAdoptions.count
    // New lines first: a line of the same payment may have moved to the owner of a new one.
    let lines = Array(snapshot.credits.enumerated())
    for (place, credit) in lines.dropFirst(owners.count) + lines.prefix(owners.count)
    where !owners.indices.contains(place) || owners[place] != credit.owner {
      events.append(
        .credited(sequence: place, credit.transaction.transactionID, owner: credit.owner.stepName))
    }
    owners = snapshot.credits.map(\.owner)
    return events + finished
  }
}

extension Uploader {
  /// The lane of an account; the name of a device.
  fileprivate var stepName: String {
    switch self {
    case .account(let account): Lane.account(account).rawValue
    case .device(let device): device.uuidString
    }
  }
}
