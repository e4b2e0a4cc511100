import AppStoreReceipts
import Foundation
import PurchaseSyncTesting

extension ConformanceCheck {
  private static let once = ConformanceSource.yourBackend("Overview")

  /// Requests at the same time. `conformance --concurrent` looks deeper.
  static let concurrency: [ConformanceCheck] = [
    ConformanceCheck("parallel-uploads", "ten simultaneous uploads grant once", once) { lab in
      let (order, paid) = try await lab.paidOrder()
      let before = try await lab.held(by: .alice)
      let words = try await parallel(10) { _ in try await lab.settled(paid, order: order.number) }
      try expect(words.count { $0 == "granted" } == 1, "granted once, duplicate for the others")
      let strange = words.allSatisfy { $0 == "granted" || $0 == "duplicate" }
      try expect(strange, "granted or duplicate")
      let after = try await lab.held(by: .alice)
      try expect(after == before + 1, "one more of it: \(before + 1)")
    },
    ConformanceCheck(
      "parallel-orders", "ten simultaneous requests with one idempotency key make one order",
      .openAPI("POST", "/v1/orders", 200), needs: [.product]
    ) { lab in
      let key = await lab.unique("key")
      let numbers = try await parallel(10) { _ in try await lab.order(key: key).number }
      try expect(Set(numbers).count == 1, "one number")
    },
    ConformanceCheck(
      "parallel-accounts", "two accounts that upload one purchase at once do not both get it", once
    ) { lab in
      let paid = try await lab.pay(token: nil, storeAccount: lab.unique("apple"))
      let before = try await lab.held(by: .alice) + lab.held(by: .bob)
      let words = try await parallel(10) { number in
        try await lab.settled(paid, as: number.isMultiple(of: 2) ? .alice : .bob)
      }
      try expect(words.count { $0 == "granted" } == 1, "granted once")
      let after = try await lab.held(by: .alice) + lab.held(by: .bob)
      try expect(after == before + 1, "one more in all: \(before + 1)")
    },
    ConformanceCheck(
      "parallel-adoptions", "two accounts that adopt one device at once do not both get its purchases",
      .openAPI("POST", "/v1/adoptions", 200)
    ) { lab in
      let device = UUID()
      try await lab.grantedToDevice(device)
      let before = try await lab.held(by: .alice) + lab.held(by: .bob)
      _ = try await parallel(6) { number in
        try await lab.adopt(
          device, as: number.isMultiple(of: 2) ? .deviceOfAlice(device) : .deviceOfBob(device))
      }
      let after = try await lab.held(by: .alice) + lab.held(by: .bob)
      try expect(after == before + 1, "one more in all: \(before + 1)")
    },
    ConformanceCheck(
      "parallel-adopted", "an adoption amid uploads of its device covers all that was paid before it",
      .yourBackend("What is easily missed")
    ) { lab in
      // Each time the adoption comes after one more of the answers.
      for answered in 0..<10 {
        let device = UUID()
        let paid = try await lab.withClock(movedBy: -60_000) {
          var paid: [ConformanceLab.Paid] = []
          for _ in 0..<10 { paid.append(try await lab.pay(token: nil, storeAccount: lab.unique("apple"))) }
          return paid
        }
        try await lab.gaining(10) {
          let words = try await withThrowingTaskGroup(of: String.self) { group in
            for one in paid {
              group.addTask { try await lab.settled(one, as: .deviceOfAlice(device), device: device) }
            }
            var words: [String] = []
            while words.count < answered, let word = try await group.next() { words.append(word) }
            try await lab.adopts(device)
            return try await group.reduce(into: words) { $0.append($1) }
          }
          try expect(words.allSatisfy { $0 == "granted" || $0 == "duplicate" }, "granted, or duplicate")
        }
      }
    },
    ConformanceCheck("parallel-purchases", "ten purchases at once are all granted", once) { lab in
      let before = try await lab.held(by: .alice)
      let words = try await parallel(10) { _ in
        let (order, paid) = try await lab.paidOrder()
        return try await lab.settled(paid, order: order.number)
      }
      try expect(words.allSatisfy { $0 == "granted" }, "granted for each")
      let after = try await lab.held(by: .alice)
      try expect(after == before + 10, "ten more: \(before + 10)")
    },
  ]
}
