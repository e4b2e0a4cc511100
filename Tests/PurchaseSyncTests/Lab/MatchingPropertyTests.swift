import Foundation
import MemoryModels
import PurchaseQueue
import PurchaseSyncTesting
import TestSupport
import Testing

@testable import PurchaseSync

/// All arrivals of up to four transactions among up to four orders, with a restart after each, against the naive
/// matcher of `MatchingFixture` (invariants 6, 9 and 18).
@Suite struct MatchingPropertyTests {
  static let fixturesPerBatch = LongTests.count(short: 12, long: 40)
  static let batches = Array(0..<12)

  private static func fixtures(_ batch: Int) -> [MatchingFixture] {
    let all = batches.count * fixturesPerBatch
    let seeds = LongTests.seeds(short: all, long: all)
    return seeds.dropFirst(batch * fixturesPerBatch).prefix(fixturesPerBatch).map(MatchingFixture.init)
  }

  /// One run: the device's storage and its results.
  struct Run {
    let fixture: MatchingFixture
    var book = OrderBook()
    var bindings: [String: String] = [:]
    var lanes: [String: Lane] = [:]

    init(_ fixture: MatchingFixture) {
      self.fixture = fixture
      for order in fixture.orders { book.insert(order, accountToken: MatchingFixture.token(of: order)) }
    }

    /// Restarts with the stored state only; the orders are read in another sequence.
    mutating func restart() {
      var next = OrderBook()
      for order in fixture.orders.reversed() {
        next.insert(book.order(order.number) ?? order, accountToken: MatchingFixture.token(of: order))
      }
      for sale in fixture.sales {
        if let known = book.knownTransaction(sale.transaction.key) {
          next.insert(known, of: sale.transaction.key)
        }
      }
      book = next
    }

    mutating func arrive(_ sale: MatchingFixture.Sale) throws -> OrderMatch {
      let id = sale.transaction.transactionID
      let isNew = lanes[id] == nil
      let expected = fixture.candidates(of: sale, taken: taken)
      let match = try book.arrive(sale.transaction)
      if isNew || bindings[id] == nil { #expect(match.candidates == expected) }
      if let lane = lanes[id] { #expect(match.lane == lane, "an entry moved to another lane") }
      lanes[id] = match.lane
      note(id, match.orderNumber)
      checkAccount(match)
      return match
    }

    /// A backend that takes the first free candidate.
    mutating func answer(_ sale: MatchingFixture.Sale, _ match: OrderMatch) throws {
      let id = sale.transaction.transactionID
      let number = match.orderNumber ?? match.candidates.first { taken[$0] == nil }
      let binding = VerdictBinding(
        verdictOrder: number, of: sale.transaction.key, productID: sale.transaction.productID,
        quantity: sale.transaction.quantity, known: book.knownTransaction(sale.transaction.key),
        order: number.flatMap { book.order($0) })
      switch binding {
      case .keep: break
      case .bind(let number):
        try book.bind(sale.transaction.key, to: number, lane: match.lane)
        note(id, number)
      case .contradiction(let reason): Issue.record("\(reason)")
      }
    }

    var taken: [String: EntryKey] {
      var taken: [String: EntryKey] = [:]
      for order in fixture.orders { taken[order.number] = book.order(order.number)?.boundTo }
      return taken
    }

    /// Bindings are one to one and permanent.
    private mutating func note(_ id: String, _ number: String?) {
      if let before = bindings[id] { #expect(number == before, "\(id) was bound to \(before)") }
      guard let number else { return }
      bindings[id] = number
      #expect(bindings.values.count { $0 == number } == 1, "order \(number) has two transactions")
      #expect(book.order(number)?.boundTo?.rawValue == "Production/" + id)
    }

    /// An account's lane contains only that account's transactions.
    private func checkAccount(_ match: OrderMatch) {
      guard let account = match.lane.account else { return }
      for number in match.candidates + [match.orderNumber].compactMap({ $0 }) {
        #expect(fixture.order(number)?.account == account)
      }
    }
  }

  @Test(arguments: batches)
  func `the bindings are the same for any order of arrival`(batch: Int) throws {
    for fixture in Self.fixtures(batch) {
      let exact = fixture.exactAssignments()
      var outcomes: Set<[String: [String]]> = []
      var accounts: [String: Set<String>] = [:]
      for arrival in MatchingFixture.permutations(fixture.sales.count) {
        var run = Run(fixture)
        for index in arrival {
          _ = try run.arrive(fixture.sales[index])
          run.restart()
        }
        // Everything has arrived: these are the claims that would be sent.
        var outcome: [String: [String]] = [:]
        for sale in fixture.sales {
          let match = try run.arrive(sale)
          let id = sale.transaction.transactionID
          if !fixture.hasRival(sale) { outcome[id] = [match.orderNumber ?? "-"] + match.candidates }
          if let account = match.lane.account { accounts[id, default: []].insert(account) }
        }
        outcome["bound orders"] = run.taken.keys.sorted()
        outcomes.insert(outcome)
        let isExact = exact.contains { exact in run.bindings.allSatisfy { exact[$0.key] == $0.value } }
        #expect(isExact, "\(run.bindings) of \(fixture)")
        // Verdicts for all: each result is legal, and a second round changes nothing.
        for index in arrival { try run.answer(fixture.sales[index], try run.arrive(fixture.sales[index])) }
        #expect(exact.contains(run.bindings), "\(run.bindings) of \(fixture)")
        run.restart()
        for sale in fixture.sales { _ = try run.arrive(sale) }
        #expect(exact.contains(run.bindings))
      }
      #expect(outcomes.count == 1, "\(fixture)")
      for (id, accounts) in accounts { #expect(accounts.count == 1, "\(id) of \(fixture)") }
    }
  }

  @Test(arguments: batches)
  func `a verdict between two arrivals breaks no rule`(batch: Int) throws {
    for fixture in Self.fixtures(batch) {
      let legal = fixture.legalAssignments()
      for arrival in MatchingFixture.permutations(fixture.sales.count) {
        var run = Run(fixture)
        for index in arrival {
          let sale = fixture.sales[index]
          try run.answer(sale, try run.arrive(sale))
          run.restart()
        }
        #expect(legal.contains(run.bindings), "\(run.bindings) of \(fixture)")
        for sale in fixture.sales { _ = try run.arrive(sale) }
      }
    }
  }

  @Test func `of payments with one token exactly one gets the order, and all belong to its owner`() throws {
    var fixture = MatchingFixture(seed: 1)
    fixture.orders = [
      OrderFacts(number: "1", account: "bob", productID: "gems", quantity: 1, createdAt: midday)
    ]
    fixture.sales = (0..<4).map {
      MatchingFixture.Sale(transaction: payment("t\($0)", token: orderToken(1)), kind: .purchase)
    }
    for arrival in MatchingFixture.permutations(4) {
      var run = Run(fixture)
      for index in arrival {
        _ = try run.arrive(fixture.sales[index])
        run.restart()
      }
      #expect(run.bindings == ["t\(arrival[0])": "1"])
      #expect(Set(run.lanes.values) == [.account("bob")])
    }
  }

  @Test func `the fixtures contain the intended cases`() {
    // The fixtures of a long run.
    let fixtures = (0..<720).map { MatchingFixture(seed: UInt64($0)) }
    let rivals = fixtures.count { fixture in fixture.sales.contains(where: fixture.hasRival) }
    let accounts = fixtures.count { Set($0.orders.map(\.account)).count == 2 }
    let choices = fixtures.count { fixture in
      fixture.sales.contains { fixture.candidates(of: $0, taken: [:]).count > 1 }
    }
    let exact = fixtures.count { fixture in
      fixture.sales.contains { sale in fixture.orders.contains { fixture.isExact(sale, $0) } }
    }
    #expect(
      rivals > 40 && accounts > 200 && choices > 60 && exact > 200,
      "\(rivals) \(accounts) \(choices) \(exact)")
  }
}
