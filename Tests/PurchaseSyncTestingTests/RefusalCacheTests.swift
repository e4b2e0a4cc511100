import Foundation
import PurchaseQueue
import PurchaseSync
import TestSupport
import Testing

@testable import PurchaseSyncTesting

/// A refused change leaves the backend's state as the file has it, and costs no reading of the file.
struct RefusalCacheTests {
  enum Refusal: String, CaseIterable, Sendable {
    case blankProduct, quantity, idempotencyConflict, orderConflict, orderOfAnotherAccount, deviceSecret
    case handlerBeforeChange, handlerAfterChange, deviceThenHandler, commit, batch, batchBehindRefusal

    /// Whether the model was changed before the failure, so that the file has to be read again.
    var isHalfway: Bool {
      switch self {
      case .handlerAfterChange, .deviceThenHandler, .commit, .batch, .batchBehindRefusal: true
      default: false
      }
    }
  }

  private struct Stop: Error {}

  private let directory: TemporaryDirectory
  private let store: BackendStore
  private let device = UUID()
  private static let first = UUID()

  init() throws {
    directory = try TemporaryDirectory()
    store = try BackendStore(path: directory.path("backend.sqlite"), bundleID: Sample.bundleID, seed: 3)
    try make("a")
    try store.change { [device] in try $0.admit(device, secret: "right") }
    try store.change {
      try $0.register(Self.order(UUID(), account: "alice"), from: "alice", now: Sample.now).writes
    }
  }

  private func make(_ key: String, product: String = "coins", quantity: Int = 1) throws {
    try store.change { model in
      try model.createOrder(
        OrderRequest(productID: product, quantity: quantity), account: "alice", idempotencyKey: key,
        now: Sample.now
      ).writes
    }
  }

  private static func order(_ token: UUID, account: String, number: UUID = first) -> DeviceOrder {
    DeviceOrder(
      number: DeviceOrder.number(number), accountToken: token, account: account, productID: "coins",
      quantity: 1,
      createdAt: Sample.now)
  }

  private func fail(_ refusal: Refusal) throws {
    switch refusal {
    case .blankProduct: try make("b", product: " ")
    case .quantity: try make("b", quantity: 0)
    case .idempotencyConflict: try make("a", quantity: 2)
    case .orderConflict:
      try store.change {
        try $0.register(Self.order(UUID(), account: "alice"), from: "alice", now: Sample.now).writes
      }
    case .orderOfAnotherAccount:
      try store.change {
        try $0.register(Self.order(UUID(), account: "bob"), from: "alice", now: Sample.now).writes
      }
    case .deviceSecret: try store.change { try $0.admit(device, secret: "wrong") }
    case .handlerBeforeChange: try store.change { _ in throw Stop() }
    case .handlerAfterChange:
      try store.change { model in
        _ = try model.createOrder(
          OrderRequest(productID: "coins", quantity: 1), account: "bob", idempotencyKey: "k", now: Sample.now)
        throw Stop()
      }
    case .deviceThenHandler:
      try store.change { model in
        _ = try model.admit(UUID(), secret: "new")
        throw Stop()
      }
    case .commit:
      try store.refuseWrites(true)
      defer { try? store.refuseWrites(false) }
      try make("c")
    case .batch, .batchBehindRefusal:
      store.isGathering = true
      defer { store.isGathering = false }
      try make("d")
      if refusal == .batchBehindRefusal {
        #expect(throws: Stop.self) { try store.change { _ in throw Stop() } }
      }
      try store.refuseWrites(true)
      let batch = store.take()
      do {
        try store.commit(batch)
      } catch {
        _ = store.abandon()
        try store.refuseWrites(false)
        throw error
      }
    }
  }

  @Test(arguments: Refusal.allCases)
  func `after a failure the state in memory is the file's`(refusal: Refusal) throws {
    let (before, loads) = (try store.model(), store.loads)
    #expect(throws: (any Error).self) { try fail(refusal) }
    #expect(try store.model() == before)
    #expect((store.loads > loads) == refusal.isHalfway)
    let file = try BackendStore(path: directory.path("backend.sqlite"), bundleID: Sample.bundleID, seed: 3)
    #expect(try file.model() == before)
    // The next change is based on it.
    try make("z")
    #expect(try store.model().orders.count == before.orders.count + 1)
  }
}
