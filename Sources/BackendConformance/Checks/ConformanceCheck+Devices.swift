import AppStoreReceipts
import Foundation
import PurchaseSyncTesting

extension ConformanceCheck {
  private static let adopted = ConformanceSource.openAPI("POST", "/v1/adoptions", 200)

  /// Purchases of a device, and their adoption by an account.
  static let devices: [ConformanceCheck] = [
    ConformanceCheck("device-adopted", "an account adopts what a device bought, once", adopted) { lab in
      let device = UUID()
      try await lab.grantedToDevice(device)
      // What another device has stays there.
      try await lab.grantedToDevice(UUID())
      let before = try await lab.held(by: .alice)
      for _ in 0..<2 {
        let reply = try await lab.adopt(device, as: .deviceOfAlice(device))
        try expect(reply.isSuccess, "a 2xx, also the second time")
        let named = reply.json?["device"]?.string.flatMap(UUID.init)
        try expect(named == device, "an answer that names the device")
      }
      let after = try await lab.held(by: .alice)
      try expect(after == before + 1, "one more of it: \(before + 1)")
    },
    ConformanceCheck("device-kept", "the first account that adopts a device keeps its purchases", adopted) {
      lab in
      let device = UUID()
      try await lab.grantedToDevice(device)
      _ = try await lab.adopt(device, as: .deviceOfAlice(device))
      let before = (alice: try await lab.held(by: .alice), bob: try await lab.held(by: .bob))
      _ = try await lab.adopt(device, as: .deviceOfBob(device))
      let after = (alice: try await lab.held(by: .alice), bob: try await lab.held(by: .bob))
      try expect(after.alice == before.alice, "the first account keeps it: \(before.alice)")
      try expect(after.bob == before.bob, "nothing for the second account: \(before.bob)")
    },
    ConformanceCheck("device-own", "an adoption moves only the purchases of its device", adopted) { lab in
      let (first, second) = (UUID(), UUID())
      try await lab.grantedToDevice(first)
      try await lab.grantedToDevice(second)
      let before = try await lab.held(by: .alice)
      _ = try await lab.adopt(first, as: .deviceOfAlice(first))
      let after = try await lab.held(by: .alice)
      try expect(after == before + 1, "one more, of the device that was adopted: \(before + 1)")
    },
    ConformanceCheck(
      "device-again", "an upload of an adopted purchase by its device grants nothing more", adopted
    ) { lab in
      let device = UUID()
      let paid = try await lab.grantedToDevice(device)
      _ = try await lab.adopt(device, as: .deviceOfAlice(device))
      let before = try await lab.held(by: .alice)
      let word = try await lab.settled(paid, as: .deviceOfAlice(device), device: device)
      try expect(word == "duplicate", "duplicate")
      let after = try await lab.held(by: .alice)
      try expect(after == before, "nothing more: \(before)")
    },
  ]
}

extension ConformanceLab {
  /// Pays without a token, and uploads it in the name of a device.
  @discardableResult
  func grantedToDevice(_ device: UUID) async throws -> Paid {
    let paid = try await pay(token: nil, storeAccount: unique("apple"))
    let word = try await settled(paid, as: .device(device), device: device)
    try expect(word == "granted", "granted to the device")
    return paid
  }

  func adopt(_ device: UUID, as caller: Caller) async throws -> Reply {
    try await send("POST", "v1/adoptions", as: caller, json: ["device": .string(device.uuidString)])
  }
}
