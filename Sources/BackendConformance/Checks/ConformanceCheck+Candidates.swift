import AppStoreReceipts
import Foundation

extension ConformanceCheck {
  private static let rows = ConformanceSource.yourBackend("Who gets it")
  private static let upload = ConformanceSource.openAPI("POST", "/v1/receipts", 200)

  /// Which of the orders that a claim proposes a purchase without a token pays.
  static let candidates: [ConformanceCheck] = [
    ConformanceCheck(
      "candidate", "a proposed purchase pays the candidate that agrees, and the verdict names it", upload
    ) { lab in
      try await pays(lab, try await lab.order())
    },
    ConformanceCheck(
      "candidate-differs", "a candidate for another quantity is not paid by a proposed purchase", rows
    ) { lab in
      try await leaves(lab, try await lab.order(quantity: 4))
    },
    ConformanceCheck(
      "candidate-product", "a candidate for another product is not paid by a proposed purchase", rows
    ) { lab in
      try await leaves(lab, try await lab.order(product: try await lab.otherProductID()))
    },
    ConformanceCheck(
      "candidate-paid", "a candidate that another payment has paid is not paid again", rows
    ) { lab in
      let (order, _) = try await lab.grantedOrder()
      try await pays(lab, try await lab.order(), of: [order])
    },
    ConformanceCheck("candidate-first", "of several candidates that fit, the first one is paid", rows) {
      lab in
      let other = try await lab.order()
      let order = try await lab.order()
      try await pays(lab, order, before: [other])
      try await lab.expectState("open", of: other.number)
    },
    ConformanceCheck("candidate-unknown", "a candidate that is not known is passed over", rows) { lab in
      let lost = ConformanceLab.MadeOrder(number: await lab.unique("lost-order"), token: "")
      try await pays(lab, try await lab.order(), of: [lost])
    },
    ConformanceCheck("candidate-deferred", "a deferred order is paid by a proposed purchase", rows) { lab in
      let order = try await lab.order()
      let reply = try await lab.send("POST", ConformanceLab.path(of: order.number, "defer"))
      try expect(reply.isSuccess, "a 2xx for the deferral")
      try await pays(lab, order)
    },
    ConformanceCheck("candidate-cancelled", "a cancelled order is not paid by a proposed purchase", rows) {
      lab in
      let order = try await lab.order()
      let reply = try await lab.send("POST", ConformanceLab.path(of: order.number, "cancel"))
      try expect(reply.isSuccess, "a 2xx for the cancellation")
      try await leaves(lab, order, "cancelled")
    },
    ConformanceCheck(
      "candidate-later", "an order that was made after the payment is not paid by a proposed purchase", rows
    ) { lab in
      let paid = try await lab.withClock(movedBy: -60_000) {
        try await lab.pay(token: nil, storeAccount: lab.unique("apple"))
      }
      try await leaves(lab, try await lab.order(), paid: paid)
    },
    ConformanceCheck(
      "candidate-clock", "the clock of the device that made an order says nothing about a proposal", rows,
      needs: [.store, .accounts]
    ) { lab in
      let number = "device-" + UUID().uuidString
      let order = ConformanceLab.with(
        try await lab.deviceOrder(number), "createdAt",
        .integer(ConformanceLab.now + 400 * ConformanceLab.day))
      let reply = try await lab.send("PUT", ConformanceLab.path(of: number), json: order)
      try expect(reply.isSuccess, "a 2xx for the registration")
      try await pays(lab, ConformanceLab.MadeOrder(number: number, token: ""))
    },
    ConformanceCheck(
      "candidate-of-other",
      "an account that proposes another account's order leaves it, and gets what it paid",
      rows
    ) { lab in
      try await lab.gaining(0) { try await leaves(lab, try await lab.order(), proposedBy: .bob) }
    },
    ConformanceCheck(
      "candidate-own", "of candidates of several accounts, an account that uploads pays its own", rows
    ) { lab in
      let alices = try await lab.order()
      try await lab.gaining(0) {
        try await pays(lab, try await lab.order(as: .bob), of: [alices], as: .bob)
      }
      try await lab.expectState("open", of: alices.number)
    },
    ConformanceCheck(
      "candidate-once", "of ten payments in one upload that propose one order, one pays it", rows
    ) { lab in
      let order = try await lab.order()
      var (claims, payments) = ([JSONValue](), [ConformanceLab.Paid]())
      for place in 0..<10 as Range<Int64> {
        let paid = try await lab.pay(token: nil, storeAccount: lab.unique("apple"))
        claims.append(
          ConformanceLab.with(ConformanceLab.proposal(paid, [order]), "proof", .integer(place)))
        payments.append(paid)
      }
      let (all, paid) = (claims, payments)
      let reply = try await lab.gaining(10) {
        let reply = try await lab.upload(all, proofs: paid.map(ConformanceLab.signed))
        for one in paid where try await lab.verdict(reply, about: one.transactionID) != "granted" {
          try await lab.settle(one, proposing: [order], to: "granted")
        }
        return reply
      }
      let named = (reply.json?["verdicts"]?.array ?? []).count {
        ConformanceLab.present($0, "orderNumber") != nil
      }
      try expect(named <= 1, "the orderNumber in one verdict")
      try await lab.expectState("delivered", of: order.number)
    },
    ConformanceCheck(
      "candidate-on-device", "a device that proposes an order pays it, and its account gets the purchase",
      rows
    ) { lab in
      let device = UUID()
      try await pays(lab, try await lab.order(), as: .deviceOfAlice(device), device: device)
    },
    ConformanceCheck(
      "candidates-of-several", "a device whose candidates are of several accounts pays none of them", rows
    ) { lab in
      let (alices, bobs) = (try await lab.order(), try await lab.order(as: .bob))
      let device = UUID()
      try await lab.gaining(0, by: .bob) {
        try await lab.gaining(0) {
          let paid = try await lab.pay(token: nil, storeAccount: lab.unique("apple"))
          try await lab.settle(
            paid, proposing: [alices, bobs], as: .device(device), device: device, to: "granted")
        }
      }
      try await lab.expectState("open", of: alices.number)
      try await lab.expectState("open", of: bobs.number, as: .bob)
    },
  ]

  /// The order is paid, which is proposed after the first ones and before the last ones.
  private static func pays(
    _ lab: ConformanceLab, _ order: ConformanceLab.MadeOrder, of first: [ConformanceLab.MadeOrder] = [],
    before last: [ConformanceLab.MadeOrder] = [], as caller: ConformanceLab.Caller = .alice,
    device: UUID = UUID()
  ) async throws {
    let account: ConformanceLab.Caller = if case .bob = caller { .bob } else { .alice }
    let paid = try await lab.pay(token: nil, storeAccount: lab.unique("apple"))
    try await lab.gaining(1, by: account) {
      try await lab.settle(paid, proposing: first + [order] + last, as: caller, device: device, to: "granted")
    }
    try await lab.expectState("delivered", of: order.number, as: account)
  }

  /// The proposed order stays as it is, and who uploads the payment gets it all the same.
  private static func leaves(
    _ lab: ConformanceLab, _ order: ConformanceLab.MadeOrder, _ state: String = "open",
    paid: ConformanceLab.Paid? = nil, proposedBy caller: ConformanceLab.Caller = .alice
  ) async throws {
    let paid =
      if let paid { paid } else {
        try await lab.pay(token: nil, storeAccount: lab.unique("apple"))
      }
    try await lab.gaining(1, by: caller) {
      try await lab.settle(paid, proposing: [order], as: caller, to: "granted")
    }
    try await lab.expectState(state, of: order.number)
  }
}
