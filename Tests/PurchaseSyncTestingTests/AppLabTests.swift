import Foundation
import PurchaseQueue
import PurchaseSQLite
import PurchaseSync
import PurchaseSyncTesting
import Testing

/// Time, kills and the limits of a lab.
@Suite struct AppLabTests {
  private static let products = [StoreProduct(id: "coins", kind: .consumable)]

  @Test func `time passes only when all tasks wait, and not by the wall clock`() async throws {
    let moments = try await AppLab.run(products: Self.products) { lab in
      let begin = lab.now
      async let slow: Void = lab.pass(.seconds(86_400))
      async let fast: Date = {
        try await lab.pass(.seconds(1)); return lab.now
      }()
      let first = try await fast
      try await slow
      return [first, lab.now].map { $0.timeIntervalSince(begin) }
    }
    #expect(moments == [1, 86_400])
  }

  @Test func `the same test has the same course each time`() async throws {
    @Sendable func course(seed: UInt64) async throws -> [String] {
      try await AppLab.run(products: Self.products, seed: seed) { lab in
        let lines = Locked<[String]>([])
        lab.server.setFaults(.outage(path: "/v1/receipts", requests: 6))
        try await lab.phone().launch { app in
          var configuration = app.configuration
          configuration.log = { record in lines.withLock { $0.append("\(app.now) \(record)") } }
          let shop = app.shop(configuration) { _ in }
          async let one = shop.purchase("coins", for: "alice")
          async let other = shop.purchase("coins", for: "bob")
          _ = try await (one, other)
          try await lab.pass(.seconds(3_600))
        }
        return lines.value
      }
    }
    let first = try await course(seed: 1)
    #expect(first.count > 10)
    #expect(try await course(seed: 1) == first)
    #expect(try await course(seed: 2) != first)
  }

  @Test func `a test that waits for nothing ends with the reason`() async throws {
    await #expect(throws: AppLabError.nothingLeft) {
      try await AppLab.run(products: Self.products) { _ in
        let (never, hold) = AsyncStream.makeStream(of: Int.self)
        for await _ in never {}
        hold.finish()
      }
    }
  }

  @Test func `a test that waits too long ends with the reason`() async throws {
    await #expect(throws: AppLabError.timeIsOver) {
      try await AppLab.run(products: Self.products, longest: .seconds(60)) { lab in
        try await lab.pass(.seconds(61))
      }
    }
  }

  @Test func `a task that asks again and again ends the test with the reason`() async throws {
    await #expect(throws: AppLabError.spinning) {
      try await AppLab.run(products: Self.products) { lab in
        let begin = lab.now
        while lab.now == begin { await lab.settle() }
      }
    }
  }

  @Test func `a call of the server inside withStore ends the test with the reason`() async throws {
    await #expect(throws: AppLabError.blocked) {
      try await AppLab.run(products: Self.products, patience: .milliseconds(200)) { lab in
        lab.server.withStore { _ in lab.setAskToBuy(true) }
      }
    }
  }

  @Test func `an error of the test is passed on, and its folder is removed`() async throws {
    struct Wrong: Error {}
    let folder = Locked("")
    await #expect(throws: Wrong.self) {
      try await AppLab.run(products: Self.products) { lab in
        try await lab.phone().launch { app in folder.withLock { $0 = app.directory } }
        throw Wrong()
      }
    }
    #expect(!folder.value.isEmpty && !FileManager.default.fileExists(atPath: folder.value))
  }

  @Test func `time stands still for work outside, which another thread does`() async throws {
    let (answer, passed) = try await AppLab.run(products: Self.products) { lab in
      let begin = lab.now
      async let other: Void = lab.pass(.seconds(5))
      let answer = try await lab.outside {
        await withCheckedContinuation { done in
          DispatchQueue.global().async { done.resume(returning: 42) }
        }
      }
      let passed = lab.now.timeIntervalSince(begin)
      try await other
      return (answer, passed)
    }
    #expect(answer == 42 && passed == 0)
  }

  @Test func `several labs run beside each other`() async throws {
    try await withThrowingTaskGroup(of: Bool.self) { labs in
      for seed in 0..<4 {
        labs.addTask {
          try await AppLab.run(products: Self.products, seed: UInt64(seed)) { lab in
            try await lab.phone().launch { app in
              try await app.shop { _ in }.purchase("coins", for: "alice").isFulfilled
            } ?? false
          }
        }
      }
      for try await isFulfilled in labs { #expect(isFulfilled) }
    }
  }

  // MARK: Kills

  @Test func `nothing of a killed app happens any more`() async throws {
    let ticks = Locked(0)
    try await AppLab.run(products: Self.products) { lab in
      let result = try await lab.phone().launch { app in
        Task {
          while true {
            try await lab.pass(.seconds(1))
            ticks.withLock { $0 += 1 }
          }
        }
        try await lab.pass(.milliseconds(3_500))
        await app.die()
        return "alive"
      }
      #expect(result == nil)
      try await lab.pass(.seconds(60))
    }
    #expect(ticks.value == 3)
  }

  @Test func `an app whose body has returned is over as well`() async throws {
    let ticks = Locked(0)
    try await AppLab.run(products: Self.products) { lab in
      try await lab.phone().launch { _ in
        Task {
          try await lab.pass(.seconds(1))
          ticks.withLock { $0 += 1 }
        }
      }
      try await lab.pass(.seconds(60))
    }
    #expect(ticks.value == 0)
  }

  @Test(arguments: [
    LabPhone.Death.before(path: "/store/payments"), .afterPayment, .before(path: "/v1/receipts"),
    .after(path: "/v1/receipts"), .before(path: "/store/finish"), .after(path: "/store/finish"),
  ])
  func `a kill at any request loses no payment and credits none twice`(death: LabPhone.Death) async throws {
    let credits = Locked<[String: Int]>([:])
    try await AppLab.run(products: Self.products) { lab in
      let phone = lab.phone()
      phone.dies(death)
      for isKilled in [true, false] {
        let lived: Bool? = try await phone.launch { app in
          let shop = app.shop { outcome in
            credits.withLock { $0[outcome.key.rawValue, default: 0] += 1 }
          }
          if lab.now.timeIntervalSince1970 == 1_767_225_600 {
            _ = try await shop.purchase("coins", for: "alice")
          }
          try await lab.pass(.seconds(60))
          return true
        }
        #expect((lived == nil) == isKilled)
      }
      let state = try lab.server.snapshot()
      #expect(state.doubledCredits == 0 && state.credits.count == state.charges.count)
      #expect(state.charges.count == (death == .before(path: "/store/payments") ? 0 : 1))
      #expect(credits.value.count == state.charges.count)
    }
  }

  @Test func `a kill between the credit and its confirmation brings the outcome again`() async throws {
    let told = Locked(0)
    try await AppLab.run(products: Self.products) { lab in
      let phone = lab.phone()
      let first = try await phone.launch { app in
        let shop = app.shop { _ in
          told.withLock { $0 += 1 }
          await app.die()
        }
        return try await shop.purchase("coins", for: "alice")
      }
      #expect(first == nil)
      try await phone.launch { app in
        let shop = app.shop { _ in told.withLock { $0 += 1 } }
        try await lab.until { told.value == 2 }
        try await shop.retryNow()
        try await lab.pass(.seconds(60))
      }
      #expect(told.value == 2)
    }
  }

  @Test func `a phone without its app keeps the vault, and an offline phone reaches nothing`() async throws {
    try await AppLab.run(products: Self.products) { lab in
      let phone = lab.phone()
      let credits = Locked(0)
      phone.dies(.before(path: "/v1/receipts"))
      try await phone.launch { app in
        _ = try await app.shop { _ in }.purchase("coins", for: "alice")
      }
      try phone.deleteApp()
      lab.server.withStore { $0.signIn(device: "phone", storeAccount: nil) }
      try await phone.launch { app in
        phone.setOffline(true)
        let shop = app.shop { _ in credits.withLock { $0 += 1 } }
        try await lab.pass(.seconds(600))
        #expect(credits.value == 0)
        phone.setOffline(false)
        try await shop.retryNow()
        // The store lists nothing for this Apple ID: the vault alone knows of the purchase.
        try await lab.until { credits.value == 1 }
      }
    }
  }

  @Test func `a phone whose clock is wrong still delivers`() async throws {
    try await AppLab.run(products: Self.products) { lab in
      let phone = lab.phone()
      phone.setClockError(.seconds(-30 * 86_400))
      try await phone.launch { app in
        #expect(lab.now.timeIntervalSince(app.now) == 30 * 86_400)
        let sale = try await app.shop { _ in }.purchase("coins", for: "alice")
        #expect(sale.isFulfilled)
      }
    }
  }
}

extension LabApp {
  fileprivate func shop(
    _ configuration: SyncConfiguration? = nil, _ fulfil: @escaping PurchaseSync.Shop.Fulfilment
  ) -> PurchaseSync.Shop {
    PurchaseSync.Shop(
      store: store, backend: backend, configuration: configuration ?? self.configuration,
      credentials: { "token-" + $0.account }, fulfil: fulfil)
  }
}
