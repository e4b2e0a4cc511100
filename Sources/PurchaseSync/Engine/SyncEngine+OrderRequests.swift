import Foundation
import PurchaseQueue

/// The requests about orders.
extension SyncEngine {
  func requestOrder(
    product: String, quantity: Int, account: String, key: String
  ) async throws(SyncError) -> OrderDocument {
    let body = try Self.json(
      OrderRequest(productID: product, quantity: quantity), what: "an order of \(product)")
    let result = try await answer(of: account) {
      BackendRequest(
        method: "POST", path: "v1/orders", headers: ["Authorization": $0, "Idempotency-Key": key], body: body)
    }
    return try Self.document(result, account: account, as: OrderDocument.self)
  }

  /// The account's open orders, page by page.
  func requestOpenOrders(account: String) async throws(SyncError) -> [OrderDocument] {
    var orders: [OrderDocument] = []
    var path = "v1/orders?state=open"
    var cursors: Set<String> = []
    while true {
      let asked = path
      let result = try await answer(of: account) {
        BackendRequest(method: "GET", path: asked, headers: ["Authorization": $0], body: Data())
      }
      let page = try Self.document(result, account: account, as: OrderListDocument.self)
      orders += page.orders
      // A backend that repeats a page would be asked for ever.
      guard let next = page.next, cursors.insert(next).inserted, cursors.count < Self.mostPages else {
        return orders
      }
      path = "v1/orders?state=open&after=" + Self.escaped(next)
    }
  }

  private static var mostPages: Int { 100 }

  /// One order as the backend knows it; nil if it does not know the order, or does not say.
  func requestOrder(_ number: String, account: String) async throws(SyncError) -> OrderDocument? {
    let path = "v1/orders/" + Self.escaped(number)
    let result = try await answer(of: account) {
      BackendRequest(method: "GET", path: path, headers: ["Authorization": $0], body: Data())
    }
    do throws(SyncError) {
      let document = try Self.document(result, account: account, as: OrderDocument.self)
      return document.number == number ? document : nil
    } catch {
      guard case .backendRefused = error else { throw error }
      return nil
    }
  }

  /// One segment of a path, or one value of a query.
  private static func escaped(_ text: String) -> String {
    var allowed = CharacterSet.alphanumerics
    allowed.insert(charactersIn: "-._~")
    return text.addingPercentEncoding(withAllowedCharacters: allowed) ?? ""
  }

  private static func json(_ value: some Encodable, what: String) throws(SyncError) -> Data {
    do {
      return try JSONEncoder().encode(value)
    } catch {
      throw .encoding(what: what)
    }
  }

  static func document<Document: Decodable>(
    _ result: Result<BackendResponse, TransportError>, account: String, as: Document.Type
  ) throws(SyncError) -> Document {
    let response: BackendResponse
    switch result {
    case .failure(let error): throw .backendUnreachable(reason: error.reason)
    case .success(let answer): response = answer
    }
    guard response.status == 200 || response.status == 201 else {
      // A captive portal answers 403 as well: only our own problem is a refusal.
      let problem = ReplyReading.problem(in: response)
      if ReplyReading.isRefusal(response) { throw .signInNeeded(account: account) }
      // 408, 425 and 429 are about the moment, not about the order.
      let isAboutNow = [408, 425, 429].contains(response.status)
      if response.status >= 500 || response.status < 400 || problem == nil || isAboutNow {
        throw .backendUnreachable(reason: "HTTP \(response.status)")
      }
      throw .backendRefused(status: response.status, reason: "an order was not made")
    }
    do {
      return try JSONDecoder().decode(Document.self, from: response.body)
    } catch {
      throw .backendUnreachable(reason: "HTTP \(response.status) with a body that is not the backend's")
    }
  }

  // MARK: Notices

  /// Sends the states of orders that the backend has not acknowledged: cancelled, deferred, made on this device. They
  /// are pending in the file. Without an answer they are sent at the next start, wake or answered upload: no timer is
  /// set for them, because no purchase waits for them.
  func sendNotices() {
    guard case .idle = notices else {
      notices = .runningAndWanted
      return
    }
    guard !isShutDown, !isSuspended, mayAskBackend else { return }
    do throws(SyncError) {
      let isOwed = try withFile { (file) throws(QueueError) in
        try !file.journal.withNotice(limit: 1).isEmpty
      }
      let hasQuestion = try !ordersToAskAbout().isEmpty
      guard isOwed || hasQuestion else { return }
    } catch {
      return report(error)
    }
    notices = .running
    run { engine in
      await engine.sendAllNotices()
      await engine.askAboutOrders()
      await engine.endNotices()
    }
  }

  /// Orders that wait for an approval, and whose time is over, or may be: the store reports no refusal. Each is asked
  /// about once in a process.
  private func ordersToAskAbout() throws(SyncError) -> [PurchaseOrder] {
    let now = configuration.now()
    let orders = try withFile { (file) throws(QueueError) in try file.ordersToAskAbout(now: now) }
    return orders.filter { !askedAbout.contains($0.number) }
  }

  private func askAboutOrders() async {
    do throws(SyncError) {
      for order in try ordersToAskAbout() where askedAbout.insert(order.number).inserted {
        guard !isShutDown, !isSuspended, !Task.isCancelled, mayAskBackend else { return }
        guard let document = try await requestOrder(order.number, account: order.account) else { continue }
        guard !isShutDown, opened != nil else { return }
        let refused = try withFile { (file) throws(QueueError) in
          try file.take([document], account: order.account)
        }
        for reason in refused { emit(.backendFault(reason: reason)) }
      }
    } catch {
      // Nothing depends on it: a screen stops waiting by itself.
      if case .signInNeeded = error { return }
      report(error)
    }
  }

  /// How many orders the backend has not acknowledged, 100 at most.
  package func noticesOwed() throws(SyncError) -> Int {
    try withFile { (file) throws(QueueError) in try file.journal.withNotice(limit: 100).count }
  }

  private func endNotices() {
    let isWanted = if case .runningAndWanted = notices { true } else { false }
    notices = .idle
    if isWanted { sendNotices() }
  }

  /// Whether the backend did not ask for a pause.
  private var mayAskBackend: Bool {
    let now = configuration.now()
    return opened?.machine.retryState.pace.asked.map { $0.opensAt(now: now) <= now } ?? true
  }

  private func sendAllNotices() async {
    var last = ""
    do throws(SyncError) {
      while !isShutDown, !isSuspended, !Task.isCancelled, mayAskBackend {
        let after = last
        let next = try withFile { (file) throws(QueueError) in
          try file.journal.withNotice(after: after, limit: 1).first
        }
        guard let row = next, try await sendNotice(of: row) else { return }
        last = row.order.number
      }
    } catch {
      report(error)
    }
  }

  /// False if the backend cannot be reached: the others have to wait, too.
  private func sendNotice(of row: OrderRow) async throws(SyncError) -> Bool {
    guard let state = row.notice else { return true }
    let (number, account) = (row.order.number, row.order.account)
    guard case .authorization(let authorization) = await credential(of: account) else { return true }
    guard !isShutDown, !isSuspended, !Task.isCancelled else { return false }
    let made = try withFile { (file) throws(QueueError) in try file.deviceOrder(number) }
    guard var request = try Self.request(for: state, of: number, made, authorization) else {
      try withFile { (file) throws(QueueError) in try file.acknowledged(state, of: number) }
      return true
    }
    request.account = account
    let result = await answer(to: request)
    if case .success(let response) = result { heard(response, authorization, of: account) }
    guard !isShutDown, opened != nil else { return false }
    if case .failure(let error) = result, error.kind == .unsendable {
      // It is about this notice, which stays pending: the backend can be reached for the others.
      emit(.backendFault(reason: error.reason))
      return true
    }
    if case .success(let response) = result, ReplyReading.speaksOtherProtocol(response) {
      // It is about the versions of app and backend, and not about this order, which stays pending.
      emit(.protocolRefused(reason: ReplyReading.description(of: response)))
      return false
    }
    var answer: OrderDocument?
    do throws(SyncError) {
      let document = try Self.document(result, account: account, as: OrderDocument.self)
      if document.number == number { answer = document }
    } catch {
      switch error {
      case .signInNeeded: return true
      case .backendRefused(let status, _):
        // Final. The order's own transaction is judged by its claim.
        if made != nil { emit(.backendFault(reason: "order \(number) was refused with \(status)")) }
      default: return false
      }
    }
    let document = answer
    try withFile { (file) throws(QueueError) in try file.acknowledged(state, of: number, document) }
    return true
  }

  /// Nil for a state that is not the backend's business.
  private static func request(
    for state: OrderState, of number: String, _ made: DeviceOrder?, _ authorization: String
  ) throws(SyncError) -> BackendRequest? {
    let path = "v1/orders/" + escaped(number)
    let headers = ["Authorization": authorization]
    if let made {
      return BackendRequest(
        method: "PUT", path: path, headers: headers, body: try json(made, what: "order \(made.number)"))
    }
    switch state {
    case .cancelled:
      return BackendRequest(method: "POST", path: path + "/cancel", headers: headers, body: Data())
    case .deferred:
      return BackendRequest(method: "POST", path: path + "/defer", headers: headers, body: Data())
    default: return nil
    }
  }
}
