import AppStoreReceipts
import Foundation
import PurchaseSyncTesting

extension ConformanceCheck {
  private static let durable = ConformanceSource.yourBackend("Overview")
  private static let keys = ConformanceSource.yourBackend("Idempotency, and how long")

  /// What a restart of the backend must not change.
  static let restarts: [ConformanceCheck] = [
    ConformanceCheck(
      "restart-grant", "what was granted before a restart is a duplicate after it", durable,
      needs: [.store, .restart]
    ) { lab in
      let (order, paid) = try await lab.grantedOrder()
      let before = try await lab.held(by: .alice)
      try await lab.restart()
      let between = try await lab.held(by: .alice)
      try expect(between == before, "the entitlements of before the restart: \(before)")
      let word = try await lab.settled(paid, order: order.number)
      try expect(word == "duplicate", "duplicate")
      let after = try await lab.held(by: .alice)
      try expect(after == before, "nothing more: \(before)")
    },
    ConformanceCheck(
      "restart-order", "an order is there after a restart, and takes its payment", durable,
      needs: [.store, .restart]
    ) { lab in
      let (order, paid) = try await lab.paidOrder()
      try await lab.restart()
      let state = try await lab.state(of: order.number)
      try expect(state == "open", "the open order")
      let before = try await lab.held(by: .alice)
      let word = try await lab.settled(paid, as: .bob)
      try expect(word == "otherOwner", "otherOwner: the token names the order of the other account")
      let after = try await lab.held(by: .alice)
      try expect(after == before + 1, "one more for the order's account: \(before + 1)")
    },
    ConformanceCheck(
      "restart-key", "an idempotency key is known after a restart", keys, needs: [.product, .restart]
    ) { lab in
      let key = await lab.unique("key")
      let first = try await lab.order(key: key)
      try await lab.restart()
      let second = try await lab.order(key: key)
      try expect(first.number == second.number && first.token == second.token, "the same number and token")
    },
    ConformanceCheck(
      "restart-numbers", "orders after a restart have numbers of their own", durable,
      needs: [.product, .restart]
    ) { lab in
      var orders: [ConformanceLab.MadeOrder] = []
      for _ in 0..<3 {
        orders.append(try await lab.order())
        try await lab.restart()
      }
      try expect(Set(orders.map(\.number)).count == 3, "another number each time")
      let bobs = try await lab.order(as: .bob)
      try expect(!orders.contains { $0.token == bobs.token }, "another accountToken for another account")
    },
    ConformanceCheck(
      "restart-epoch", "a restart does not change the ledgerEpoch", .yourBackend("ledgerEpoch"),
      needs: [.store, .restart]
    ) { lab in
      func epoch() async throws -> String? {
        let (order, paid) = try await lab.paidOrder()
        let claim = ConformanceLab.claim(paid, order: order.number)
        let reply = try await lab.upload([claim], proof: ConformanceLab.signed(paid))
        return reply.json?["ledgerEpoch"]?.string
      }
      let before = try await epoch()
      try await lab.restart()
      let after = try await epoch()
      try expect(before != nil && before == after, "the ledgerEpoch of before the restart")
    },
    ConformanceCheck(
      "restart-adoption", "an adoption is there after a restart", keys, needs: [.store, .restart]
    ) { lab in
      let device = UUID()
      try await lab.grantedToDevice(device)
      _ = try await lab.adopt(device, as: .deviceOfAlice(device))
      let before = (alice: try await lab.held(by: .alice), bob: try await lab.held(by: .bob))
      try await lab.restart()
      _ = try await lab.adopt(device, as: .deviceOfBob(device))
      let after = (alice: try await lab.held(by: .alice), bob: try await lab.held(by: .bob))
      try expect(after.alice == before.alice, "the account that adopted it has it: \(before.alice)")
      try expect(after.bob == before.bob, "nothing for the other account: \(before.bob)")
    },
    ConformanceCheck(
      "restart-covers", "an adoption from before a restart covers what the device uploads after it", keys,
      needs: [.store, .restart]
    ) { lab in
      let device = UUID()
      let paid = try await lab.withClock(movedBy: -60_000) {
        try await lab.pay(token: nil, storeAccount: lab.unique("apple"))
      }
      try await lab.grantedToDevice(device)
      try await lab.adopts(device)
      try await lab.restart()
      try await lab.gaining(1) {
        let told = try await lab.told(paid, as: .deviceOfAlice(device), device: device)
        try expect(told["owner"]?.string == "yours", "the owner yours: the account has adopted the device")
      }
    },
    ConformanceCheck(
      "restart-part", "how much was refunded is known after a restart", durable, needs: [.store, .restart]
    ) { lab in
      let before = try await lab.held(by: .alice)
      let (order, paid) = try await lab.paidOrder(quantity: 3)
      try await lab.settle(paid, order: order.number, to: "granted")
      _ = try await lab.notify(try await lab.refund(paid, units: 1).notification)
      try await lab.restart()
      let after = try await lab.held(by: .alice)
      try expect(after == before + 2, "two units of three: \(before + 2)")
    },
    ConformanceCheck(
      "restart-grace", "the grace after a failed charge is known after a restart", durable,
      needs: [.store, .restart]
    ) { lab in
      let late = try await lab.failedCharge(daysAgo: 1)
      try await lab.tell(try await lab.failureNotice(of: late))
      try await lab.restart()
      try await lab.gaining(1, of: late.productID) { try await lab.settle(late, to: "granted") }
    },
    ConformanceCheck(
      "restart-registered", "a device's order is there after a restart, and takes its payment", durable,
      needs: [.store, .accounts, .restart]
    ) { lab in
      let number = "device-" + UUID().uuidString
      let order = try await lab.deviceOrder(number)
      let reply = try await lab.register(number, order)
      try expect(reply.isSuccess, "a 2xx for the registration")
      try await lab.restart()
      try await lab.expectState("open", of: number)
      let paid = try await lab.pay(token: order["accountToken"]?.string, storeAccount: lab.unique("apple"))
      try await lab.gaining(1) { try await lab.settle(paid, as: .bob, to: "otherOwner") }
      try await lab.expectState("delivered", of: number)
    },
    ConformanceCheck(
      "restart-refund", "a refund is known after a restart", durable, needs: [.store, .restart]
    ) { lab in
      let before = try await lab.held(by: .alice)
      let (_, paid) = try await lab.grantedOrder()
      _ = try await lab.notify(try await lab.refund(paid).notification)
      try await lab.restart()
      let after = try await lab.held(by: .alice)
      try expect(after == before, "without the refunded one: \(before)")
    },
    ConformanceCheck(
      "restart-notified", "what a notification told before a restart counts for an upload after it", durable,
      needs: [.store, .restart]
    ) { lab in
      let (order, paid) = try await lab.paidOrder()
      let reply = try await lab.notify(try await lab.refund(paid).notification)
      try expect(reply.isSuccess, "a 2xx")
      try await lab.restart()
      try await lab.gaining(0) { try await lab.settle(paid, order: order.number, to: "refunded") }
    },
    ConformanceCheck(
      "restart-cancelled", "a cancelled order is cancelled after a restart", durable,
      needs: [.product, .restart]
    ) { lab in
      let order = try await lab.order()
      try await lab.move(order, "cancel", to: "cancelled")
      try await lab.restart()
      try await lab.expectState("cancelled", of: order.number)
    },
    ConformanceCheck(
      "restart-device", "the secret of a device is known after a restart",
      .openAPI("POST", "/v1/receipts", 403), needs: [.store, .restart]
    ) { lab in
      let device = UUID()
      let paid = try await lab.grantedToDevice(device)
      try await lab.restart()
      let claim = ConformanceLab.claim(paid)
      let reply = try await lab.upload(
        [claim], proof: ConformanceLab.signed(paid), as: .thief(device), device: device)
      try expect(reply.status == 403, "403 for another secret")
    },
  ]
}
