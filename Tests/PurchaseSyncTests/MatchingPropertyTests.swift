import Foundation
import PurchaseQueue
import PurchaseSyncTesting
import Testing

@testable import PurchaseSync

/// All arrivals of up to four transactions among up to four orders, with a restart after each, against the dumb
/// matcher of `MatchingWorld` (invariants 6, 9 and 18).
@Suite struct MatchingPropertyTests {
  static let worldsPerBatch = 60
  static let batches = Array(0..<12)

  private static func worlds(_ batch: Int) -> [MatchingWorld] {
    (0..<worldsPerBatch).map { MatchingWorld(seed: UInt64(batch * worldsPerBatch + $0)) }
  }

  /// One run: what the device stores, and what it said.
  struct Run {
    let world: MatchingWorld
    var book = OrderBook()
    var bindings: [String: String] = [:]
    var lanes: [String: Lane] = [:]

    init(_ world: MatchingWorld) {
      self.world = world
      for order in world.orders { book.insert(order, accountToken: MatchingWorld.token(of: order)) }
    }

    /// What is stored, and nothing else, comes back; the orders in another sequence.
    mutating func restart() {
      var next = OrderBook()
      for order in world.orders.reversed() {
        next.insert(book.order(order.number) ?? order, accountToken: MatchingWorld.token(of: order))
      }
      for sale in world.sales {
        if let known = book.knownTransaction(sale.transaction.key) {
          next.insert(known, of: sale.transaction.key)
        }
      }
      book = next
    }

    mutating func arrive(_ sale: MatchingWorld.Sale) throws -> OrderMatch {
      let id = sale.transaction.transactionID
      let isNew = lanes[id] == nil
      let expected = world.candidates(of: sale, taken: taken)
      let match = try book.arrive(sale.transaction)
      if isNew || bindings[id] == nil { #expect(match.candidates == expected) }
      if let lane = lanes[id] { #expect(match.lane == lane, "an entry moved to another lane") }
      lanes[id] = match.lane
      note(id, match.orderNumber)
      checkAccount(match)
      return match
    }

    /// A backend that takes the first candidate that nobody has.
    mutating func answer(_ sale: MatchingWorld.Sale, _ match: OrderMatch) throws {
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
      for order in world.orders { taken[order.number] = book.order(order.number)?.boundTo }
      return taken
    }

    /// One to one, and for ever.
    private mutating func note(_ id: String, _ number: String?) {
      if let before = bindings[id] { #expect(number == before, "\(id) was bound to \(before)") }
      guard let number else { return }
      bindings[id] = number
      #expect(bindings.values.count { $0 == number } == 1, "order \(number) has two transactions")
      #expect(book.order(number)?.boundTo?.rawValue == "Production/" + id)
    }

    /// In an account's lane there is nothing but that account's.
    private func checkAccount(_ match: OrderMatch) {
      guard case .account(let account) = match.lane else { return }
      for number in match.candidates + [match.orderNumber].compactMap({ $0 }) {
        #expect(world.order(number)?.account == account)
      }
    }
  }

  @Test(arguments: batches)
  func `the bindings are the same in whatever order transactions arrive`(batch: Int) throws {
    for world in Self.worlds(batch) {
      let exact = world.exactAssignments()
      var outcomes: Set<[String: [String]]> = []
      var accounts: [String: Set<String>] = [:]
      for arrival in MatchingWorld.permutations(world.sales.count) {
        var run = Run(world)
        for index in arrival {
          _ = try run.arrive(world.sales[index])
          run.restart()
        }
        // Everything is here: what is sent now.
        var outcome: [String: [String]] = [:]
        for sale in world.sales {
          let match = try run.arrive(sale)
          let id = sale.transaction.transactionID
          if !world.hasRival(sale) { outcome[id] = [match.orderNumber ?? "-"] + match.candidates }
          if case .account(let account) = match.lane { accounts[id, default: []].insert(account) }
        }
        outcome["bound orders"] = run.taken.keys.sorted()
        outcomes.insert(outcome)
        let isExact = exact.contains { exact in run.bindings.allSatisfy { exact[$0.key] == $0.value } }
        #expect(isExact, "\(run.bindings) of \(world)")
        // Verdicts for all; then nothing is illegal, and a second round changes nothing.
        for index in arrival { try run.answer(world.sales[index], try run.arrive(world.sales[index])) }
        #expect(exact.contains(run.bindings), "\(run.bindings) of \(world)")
        run.restart()
        for sale in world.sales { _ = try run.arrive(sale) }
        #expect(exact.contains(run.bindings))
      }
      #expect(outcomes.count == 1, "\(world)")
      for (id, accounts) in accounts { #expect(accounts.count == 1, "\(id) of \(world)") }
    }
  }

  @Test(arguments: batches)
  func `a verdict between two arrivals breaks no rule`(batch: Int) throws {
    for world in Self.worlds(batch) {
      let legal = world.legalAssignments()
      for arrival in MatchingWorld.permutations(world.sales.count) {
        var run = Run(world)
        for index in arrival {
          let sale = world.sales[index]
          try run.answer(sale, try run.arrive(sale))
          run.restart()
        }
        #expect(legal.contains(run.bindings), "\(run.bindings) of \(world)")
        for sale in world.sales { _ = try run.arrive(sale) }
      }
    }
  }

  @Test func `of payments with one token exactly one has the order, and each is its owner's`() throws {
    var world = MatchingWorld(seed: 1)
    world.orders = [
      OrderFacts(number: "1", account: "bob", productID: "gems", quantity: 1, createdAt: midday)
    ]
    world.sales = (0..<4).map {
      MatchingWorld.Sale(transaction: payment("t\($0)", token: orderToken(1)), kind: .purchase)
    }
    for arrival in MatchingWorld.permutations(4) {
      var run = Run(world)
      for index in arrival {
        _ = try run.arrive(world.sales[index])
        run.restart()
      }
      #expect(run.bindings == ["t\(arrival[0])": "1"])
      #expect(Set(run.lanes.values) == [.account("bob")])
    }
  }

  @Test func `the worlds have what they are to show`() {
    let worlds = Self.batches.flatMap(Self.worlds)
    let rivals = worlds.count { world in world.sales.contains(where: world.hasRival) }
    let accounts = worlds.count { Set($0.orders.map(\.account)).count == 2 }
    let choices = worlds.count { world in
      world.sales.contains { world.candidates(of: $0, taken: [:]).count > 1 }
    }
    let exact = worlds.count { world in
      world.sales.contains { sale in world.orders.contains { world.isExact(sale, $0) } }
    }
    #expect(
      rivals > 40 && accounts > 200 && choices > 60 && exact > 200,
      "\(rivals) \(accounts) \(choices) \(exact)")
  }
}
