import Foundation

/// The requests about orders.
extension HTTPBackend {
  package func makeOrder(
    _ wish: OrderRequest, key: String, for account: AccountCredential
  ) async -> OrderAnswer<OrderDocument> {
    await ask("POST", "v1/orders", of: account, key: key, body: { try JSONEncoder().encode(wish) })
  }

  package func openOrders(
    after cursor: String?, of account: AccountCredential
  ) async -> OrderAnswer<OrderListDocument> {
    let page = cursor.map { "&after=" + Self.escaped($0) } ?? ""
    return await ask("GET", "v1/orders?state=open" + page, of: account)
  }

  package func order(_ number: String, of account: AccountCredential) async -> OrderAnswer<OrderDocument> {
    await ask("GET", Self.path(of: number), of: account)
  }

  package func publish(
    _ notice: OrderNotice, of account: AccountCredential
  ) async -> OrderAnswer<OrderDocument?> {
    let answer: OrderAnswer<OrderDocument>
    switch notice {
    case .made(let order):
      answer = await ask(
        "PUT", Self.path(of: order.number), of: account, body: { try JSONEncoder().encode(order) })
    case .became(let state, let number):
      let verb = state == .deferred ? "/defer" : "/cancel"
      answer = await ask("POST", Self.path(of: number) + verb, of: account)
    }
    return answer.map { $0 }
  }

  private func ask<Document: Decodable>(
    _ method: String, _ path: String, of account: AccountCredential, key: String? = nil,
    body: () throws -> Data = { Data() }
  ) async -> OrderAnswer<Document> {
    var request = BackendRequest(
      method: method, path: path, headers: ["Authorization": account.authorization], body: Data())
    request.headers["Idempotency-Key"] = key
    do {
      request.body = try body()
    } catch {
      return .failure(.unsendable(reason: "the request for an order cannot be written as JSON"))
    }
    return Self.orderAnswer(await answer(request))
  }

  private static func path(of number: String) -> String { "v1/orders/" + escaped(number) }

  /// One segment of a path, or one value of a query.
  private static func escaped(_ text: String) -> String {
    var allowed = CharacterSet.alphanumerics
    allowed.insert(charactersIn: "-._~")
    return text.addingPercentEncoding(withAllowedCharacters: allowed) ?? ""
  }

  // MARK: Answers

  /// The document of an answer, or what its status and its problem say.
  static func orderAnswer<Document: Decodable>(
    _ result: Result<BackendResponse, TransportError>
  ) -> OrderAnswer<Document> {
    let response: BackendResponse
    switch result {
    case .failure(let error) where error.kind == .unsendable:
      return .failure(.unsendable(reason: error.reason))
    case .failure(let error): return .failure(.unreachable(reason: error.reason))
    case .success(let answer): response = answer
    }
    guard response.status == 200 || response.status == 201 else {
      return .failure(failure(of: response))
    }
    do {
      return .success(try JSONDecoder().decode(Document.self, from: response.body))
    } catch {
      return .failure(
        .unreachable(reason: "HTTP \(response.status) with a body that is not the backend's"))
    }
  }

  private static func failure(of response: BackendResponse) -> OrderFailure {
    if ReplyReading.isRefusal(response) { return .tokenRefused }
    if ReplyReading.speaksOtherProtocol(response) {
      return .otherProtocol(status: response.status, reason: ReplyReading.description(of: response))
    }
    // A captive portal answers 403 as well: only our own problem is a refusal. 408, 425 and 429 are about the moment, and
    // not about the order.
    let isRefused =
      (400...499).contains(response.status) && ![408, 425, 429].contains(response.status)
      && ReplyReading.problem(in: response) != nil
    return isRefused ? .refused(status: response.status) : .unreachable(reason: "HTTP \(response.status)")
  }
}
