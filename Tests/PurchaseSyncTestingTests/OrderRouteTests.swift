import Foundation
import PurchaseQueue
import PurchaseSync
import Testing

@testable import PurchaseSyncTesting

/// Orders that devices make, and orders that end without a payment.
@Suite struct OrderRouteTests {
  private func made(
    _ number: String = "device-" + UUID().uuidString, token: UUID = UUID(), account: String = "alice",
    quantity: Int = 1, state: OrderState = .open
  ) -> DeviceOrder {
    DeviceOrder(
      number: number, accountToken: token, account: account, productID: "coins", quantity: quantity,
      state: state, createdAt: Sample.now)
  }

  private func put(
    _ order: DeviceOrder, _ fixture: MockServerFixture, as account: String = "alice", to number: String? = nil
  ) async throws -> Int {
    try await fixture.send(
      "PUT", "/v1/orders/\(number ?? order.number)", MockServerFixture.bearer(account),
      body: JSONEncoder().encode(order)
    ).status
  }

  private func verdict(
    on payment: MockServerFixture.Payment, _ order: DeviceOrder, _ fixture: MockServerFixture,
    as headers: [String: String] = MockServerFixture.bearer("alice"), device: UUID = UUID()
  ) async throws -> ClaimVerdict {
    let claim = Claim(
      transactionID: payment.transactionID, environment: "Production", productID: "coins", quantity: 1,
      purchasedAt: Sample.now, match: .bound, orderNumber: order.number, order: order)
    let proof = ProofDocument(kind: .signedTransaction, data: payment.signedTransaction)
    let reply = try await fixture.send(
      "POST", "/v1/receipts", headers,
      body: UploadRequest(device: device, proof: proof, claims: [claim]).json())
    return try #require(try reply.decode(UploadReply.self).verdicts.first)
  }

  @Test func `a device's order is registered once, and moves on with its state`() async throws {
    let fixture = try MockServerFixture()
    var order = made()
    #expect(try await put(order, fixture) == 201)
    #expect(try await put(order, fixture) == 200)
    order.state = .deferred
    #expect(try await put(order, fixture) == 200)
    order.state = .cancelled
    #expect(try await put(order, fixture) == 200)
    order.state = .open
    #expect(try await put(order, fixture) == 200)
    let log = try fixture.server.snapshot()
    #expect(log.orders.map(\.number) == [order.number] && log.orders.map(\.state) == [.cancelled])
  }

  @Test func `an order with a known number or token and other contents is refused, and changes nothing`()
    async throws
  {
    let fixture = try MockServerFixture()
    let order = made()
    #expect(try await put(order, fixture) == 201)
    #expect(try await put(made(order.number, token: order.accountToken, quantity: 2), fixture) == 409)
    #expect(try await put(made(order.number), fixture) == 409)
    #expect(try await put(made(token: order.accountToken), fixture) == 409)
    let bobs = made(order.number, token: order.accountToken, account: "bob")
    #expect(try await put(bobs, fixture, as: "bob") == 409)
    #expect(try await put(bobs, fixture) == 403)
    #expect(try await put(made("order-1"), fixture) == 422)
    #expect(try await put(made(), fixture, to: order.number) == 422)
    #expect(try fixture.server.snapshot().orders.count == 1)
  }

  @Test func `a claim registers its order, and one whose order conflicts pays none`()
    async throws
  {
    let fixture = try MockServerFixture()
    let order = made()
    let first = try await fixture.pay(token: order.accountToken)
    #expect(try await verdict(on: first, order, fixture).verdict == .granted)
    #expect(try await verdict(on: first, order, fixture).verdict == .duplicate)
    for odd in [made(order.number), made(token: order.accountToken), made(account: "bob"), made("order-9")] {
      let second = try await fixture.pay(token: UUID())
      let told = try await verdict(on: second, odd, fixture)
      #expect(told.verdict == .granted)
      #expect(told.orderNumber == nil)
    }
    let log = try fixture.server.snapshot()
    #expect(log.credits.count == 5 && log.orders.count == 1)
  }

  @Test func `a device cannot register an account's order, and its claim waits for the account`() async throws
  {
    let fixture = try MockServerFixture()
    let order = made()
    let payment = try await fixture.pay(token: order.accountToken)
    let device = UUID()
    let headers = ["Authorization": "Device \(device.uuidString):secret"]
    #expect(try await verdict(on: payment, order, fixture, as: headers, device: device).verdict == .pending)
    #expect(try await put(order, fixture) == 201)
    #expect(
      try await verdict(on: payment, order, fixture, as: headers, device: device).verdict == .otherOwner)
    #expect(try fixture.server.snapshot().creditOwners == [.account("alice")])
  }

  @Test func `cancel and defer can be repeated, come late, and change no paid order`() async throws {
    let fixture = try MockServerFixture()
    let order = try await fixture.order()
    func post(_ action: String, as account: String = "alice", to number: String? = nil) async throws -> Int {
      try await fixture.send(
        "POST", "/v1/orders/\(number ?? order.number)/\(action)", MockServerFixture.bearer(account)
      ).status
    }
    #expect(try await post("defer") == 200)
    #expect(try await post("cancel") == 200)
    #expect(try await post("cancel") == 200)
    #expect(try await post("defer") == 200)
    #expect(try fixture.server.snapshot().orders.first?.state == .cancelled)
    #expect(try await post("cancel", as: "bob") == 403)
    #expect(try await post("cancel", to: "none") == 404)
    let payment = try await fixture.pay(token: order.accountToken)
    #expect(try await fixture.upload(payment, order: order.number)?.verdict == .granted)
    #expect(try await post("cancel") == 200)
    #expect(try fixture.server.snapshot().orders.first?.state == .delivered)
  }

  @Test func `orders come in pages, each once`() async throws {
    let fixture = try MockServerFixture()
    for number in 1...7 { _ = try await fixture.order(key: "k\(number)") }
    _ = try await fixture.order("bob")
    var found: [String] = []
    var path = "/v1/orders?limit=3"
    while true {
      let reply = try await fixture.send("GET", path, MockServerFixture.bearer("alice"))
      let page = try reply.decode(OrderListDocument.self)
      found += page.orders.map(\.number)
      guard let next = page.next else { break }
      path = "/v1/orders?limit=3&after=" + next
    }
    #expect(found.count == 7 && Set(found).count == 7)
    #expect(
      try await fixture.send("GET", "/v1/orders?limit=0", MockServerFixture.bearer("alice")).status == 422)
  }

  @Test func `old orders without a payment are removed, and no number is given twice`() throws {
    var model = BackendModel(bundleID: Sample.bundleID, seed: 1)
    let request = OrderRequest(productID: "coins", quantity: 1)
    var numbers: Set<String> = []
    var now = Sample.now
    for key in 0..<200 {
      let made = try model.createOrder(request, account: "a", idempotencyKey: "\(key)", now: now)
      #expect(numbers.insert(made.order.number).inserted)
      now = now.adding(milliseconds: 30 * 86_400_000)
    }
    #expect(model.orders.count < 40)
    #expect(model.order(account: "a", idempotencyKey: "199")?.number == "order-200")
    #expect(model.order(account: "a", idempotencyKey: "0") == nil)
  }
}
