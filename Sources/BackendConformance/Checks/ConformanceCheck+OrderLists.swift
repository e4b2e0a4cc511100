import AppStoreReceipts
import Foundation
import PurchaseSyncTesting

extension ConformanceCheck {
  private static let list = ConformanceSource.openAPI("GET", "/v1/orders", 200)
  private static let read = ConformanceSource.openAPI("GET", "/v1/orders/{number}", 200)
  private static let moved = ConformanceSource.openAPI("POST", "/v1/orders/{number}/defer", 200)

  /// Pages and filters of the list.
  static let orderLists: [ConformanceCheck] = [
    ConformanceCheck(
      "order-pages-all", "the pages together have each order once", list, needs: [.product]
    ) { lab in
      let made = try await lab.orders(5)
      let listed = try await lab.listed("limit=2")
      for number in made {
        try expect(listed.count { $0.number == number } == 1, "each order once on the pages: \(number)")
      }
    },
    ConformanceCheck("order-oldest-first", "orders are listed oldest first", list, needs: [.product]) { lab in
      let made = try await lab.orders(3)
      let listed = try await lab.listed("state=open").map(\.number)
      try expect(listed.filter(made.contains) == made, "the orders in which they were made")
    },
    ConformanceCheck("order-filter", "a list of one state has no order of another", list, needs: [.product]) {
      lab in
      let made = try await lab.orders(2)
      _ = try await lab.send("POST", ConformanceLab.path(of: made[0], "cancel"))
      for state in ["cancelled", "open"] {
        let listed = try await lab.listed("state=" + state)
        try expect(listed.allSatisfy { $0.state == state }, "only orders that are \(state)")
        let own = state == "open" ? made[1] : made[0]
        try expect(listed.contains { $0.number == own }, "the order that is \(state)")
      }
    },
    ConformanceCheck(
      "order-filter-pages", "the filter counts on each page", list, needs: [.product]
    ) { lab in
      let numbers = try await lab.orders(3)
      for number in numbers {
        _ = try await lab.send("POST", ConformanceLab.path(of: number, "cancel"))
        _ = try await lab.order()
      }
      let listed = try await lab.listed("state=cancelled&limit=2")
      try expect(Set(listed.map(\.number)).isSuperset(of: numbers), "the three cancelled orders")
      try expect(listed.allSatisfy { $0.state == "cancelled" }, "only cancelled orders")
    },
    ConformanceCheck("order-list-delivered", "paid orders are listed as delivered", list) { lab in
      let (order, _) = try await lab.grantedOrder()
      let delivered = try await lab.listed("state=delivered")
      try expect(delivered.contains { $0.number == order.number }, "the order among the delivered ones")
      let open = try await lab.listed("state=open")
      try expect(!open.contains { $0.number == order.number }, "no paid order among the open ones")
    },
    ConformanceCheck("order-list-as-read", "an order is listed as it is read", list, needs: [.product]) {
      lab in
      let order = try await lab.order(quantity: 2)
      let single = try await lab.send("GET", ConformanceLab.path(of: order.number)).json
      let item = try await lab.listedItems("state=open").first { $0["number"]?.string == order.number }
      for name in ["accountToken", "productID", "quantity", "state", "createdAt", "expiresAt"] {
        try expect(
          ConformanceLab.present(item, name) == ConformanceLab.present(single, name), "the same \(name)")
      }
    },
    ConformanceCheck(
      "order-last-page", "the last page has no next", list, needs: [.product]
    ) { lab in
      _ = try await lab.order()
      let pages = try await lab.pages("limit=100")
      try expect(!pages.contains([]), "an order on each page")
    },
  ]

  /// Which states may follow which.
  static let orderStates: [ConformanceCheck] = [
    ConformanceCheck(
      "order-defer-late", "a cancelled order does not become deferred", moved, needs: [.product]
    ) { lab in
      let order = try await lab.order()
      try await lab.move(order, "cancel", to: "cancelled")
      try await lab.move(order, "defer", to: "cancelled")
    },
    ConformanceCheck("order-defer-again", "an order can be deferred twice", moved, needs: [.product]) { lab in
      let order = try await lab.order()
      try await lab.move(order, "defer", to: "deferred")
      try await lab.move(order, "defer", to: "deferred")
      try await lab.expectState("deferred", of: order.number)
    },
    ConformanceCheck("order-defer-delivered", "a delivered order does not become deferred", moved) { lab in
      let (order, _) = try await lab.grantedOrder()
      try await lab.move(order, "defer", to: "delivered")
    },
    ConformanceCheck("order-deferred-paid", "a deferred order takes its payment", moved) { lab in
      let order = try await lab.order()
      try await lab.move(order, "defer", to: "deferred")
      let paid = try await lab.pay(token: order.token, storeAccount: lab.unique("apple"))
      try await lab.gaining(1) { try await lab.settle(paid, order: order.number, to: "granted") }
      try await lab.expectState("delivered", of: order.number)
    },
    ConformanceCheck(
      "order-cancelled-delivered", "a cancelled order that is paid is delivered",
      .openAPI("POST", "/v1/orders/{number}/cancel", 200)
    ) { lab in
      let order = try await lab.order()
      try await lab.move(order, "cancel", to: "cancelled")
      let paid = try await lab.pay(token: order.token, storeAccount: lab.unique("apple"))
      try await lab.settle(paid, order: order.number, to: "granted")
      try await lab.expectState("delivered", of: order.number)
    },
    ConformanceCheck(
      "order-move-unknown", "an unknown order cannot be cancelled or deferred",
      .openAPI("POST", "/v1/orders/{number}/cancel", 404), needs: []
    ) { lab in
      for action in ["cancel", "defer"] {
        let reply = try await lab.send(
          "POST", ConformanceLab.path(of: await lab.unique("no-such"), action))
        try expect(reply.status == 404, "404 for \(action)")
      }
    },
    ConformanceCheck(
      "order-odd-numbers", "a number with any characters is an unknown one",
      .openAPI("GET", "/v1/orders/{number}", 404), needs: []
    ) { lab in
      for number in [
        "'; DROP TABLE orders; --", "a b", "é", "%", "1+1", "..%2F", String(repeating: "9", count: 300),
      ] {
        let reply = try await lab.send("GET", ConformanceLab.path(of: number))
        try expect(reply.isRefusal, "404, or another 4xx, for the number \(number.prefix(30))")
      }
    },
  ]
}

extension ConformanceLab {
  struct ListedOrder: Sendable {
    var number: String
    var state: String
  }

  /// Makes orders, and returns their numbers.
  fileprivate func orders(_ count: Int) async throws -> [String] {
    var numbers: [String] = []
    for _ in 0..<count { numbers.append(try await order().number) }
    return numbers
  }

  /// All orders of a list, page by page.
  func listed(_ query: String, as caller: Caller = .alice) async throws -> [ListedOrder] {
    try await listedItems(query, as: caller).map { item in
      guard let number = item["number"]?.string, let state = item["state"]?.string else {
        throw ConformanceFailure("a number and a state of each order")
      }
      return ListedOrder(number: number, state: state)
    }
  }

  func listedItems(_ query: String, as caller: Caller = .alice) async throws -> [JSONValue] {
    try await pages(query, as: caller).flatMap(\.self)
  }

  /// The pages of a list up to the one without `next`. The account may have the orders of many earlier runs, so their number
  /// has no limit; that of the pages without an order that no page before has had is 100.
  fileprivate func pages(_ query: String, as caller: Caller = .alice) async throws -> [[JSONValue]] {
    var pages: [[JSONValue]] = []
    var numbers: Set<String?> = []
    var (after, pagesWithoutNew) = ("", 0)
    while true {
      let reply = try await send("GET", "v1/orders?\(query)\(after)", as: caller)
      try expect(reply.status == 200, "200")
      let page = reply.json?["orders"]?.array ?? []
      pages.append(page)
      guard let next = Self.present(reply.json, "next")?.string else { return pages }
      let numbersBefore = numbers.count
      numbers.formUnion(page.map { $0["number"]?.string })
      pagesWithoutNew += numbers.count == numbersBefore ? 1 : 0
      try expect(pagesWithoutNew <= 100, "a last page, without next")
      after = "&after=" + Self.escaped(next)
    }
  }

  /// Throws unless the answer to `cancel` or `defer` has this state.
  func move(_ order: MadeOrder, _ action: String, to state: String) async throws {
    let reply = try await send("POST", Self.path(of: order.number, action))
    try expect(reply.status == 200, "200 for \(action)")
    try expect(reply.json?["state"]?.string == state, "the state \(state)")
  }
}
