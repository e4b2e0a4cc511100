import AppStoreReceipts
import Foundation
import LoopbackHTTP
import PurchaseSync
import PurchaseSyncTesting

extension BrokenBackend {
  /// Bugs of the list of orders.
  static let orderLists: [BrokenBackend] = [
    BrokenBackend(
      "page-skips-one", "one order is missing between two pages",
      hooks: changingList { list, _, _ in
        if list.next != nil, list.orders.count > 1 { list.orders.removeLast() }
      }),
    BrokenBackend(
      "newest-first", "orders are listed newest first",
      hooks: changingList { list, _, _ in list.orders.reverse() }),
    BrokenBackend(
      "filter-ignored", "the state in the query is ignored",
      hooks: BrokenHooks(before: { _, call in
        if isCall(call, "GET", "/v1/orders") { call.request.query["state"] = nil }
        return nil
      })),
    BrokenBackend(
      "filter-on-first-page", "the state in the query counts on the first page only",
      hooks: BrokenHooks(before: { _, call in
        if isCall(call, "GET", "/v1/orders"), call.request.query["after"] != nil {
          call.request.query["state"] = nil
        }
        return nil
      })),
    BrokenBackend(
      "delivered-unlisted", "delivered orders are not listed",
      hooks: changingList { list, _, _ in list.orders.removeAll { $0.state == .delivered } }),
    BrokenBackend(
      "listed-differently", "a list has another quantity than the order",
      hooks: changingList { list, _, _ in
        for index in list.orders.indices { list.orders[index].quantity = 1 }
      }),
    BrokenBackend(
      "next-for-ever", "the last page has a next, too",
      hooks: changingList { list, _, _ in list.next = list.next ?? list.orders.last?.number }),
  ]

  /// Bugs about which state follows which.
  static let orderStates: [BrokenBackend] = [
    BrokenBackend(
      "defers-cancelled", "a cancelled order becomes deferred",
      hooks: moving("defer") { order in
        if order.state == .cancelled { order.state = .deferred }
      }),
    BrokenBackend(
      "defers-once", "a second deferral is refused",
      hooks: BrokenHooks(before: { mock, call in
        guard isMove(call, "defer"), try MockState.readOrder(&mock, call).state == .deferred else {
          return nil
        }
        throw HTTPProblem(status: 409, type: "state", title: "The order is deferred already")
      })),
    BrokenBackend(
      "defers-delivered", "a delivered order becomes deferred",
      hooks: moving("defer") { order in
        if order.state == .delivered { order.state = .deferred }
      }),
    BrokenBackend(
      "deferred-unpayable", "a payment for a deferred order is rejected",
      hooks: BrokenHooks(before: { mock, call in
        guard let upload = call.request.upload else { return nil }
        let model = try mock.backend.model()
        let isDeferred = upload.claims.contains { claim in
          claim.orderNumber.flatMap { model.order(number: $0) }?.state == .deferred
        }
        return isDeferred ? try all(.rejected, of: upload, mock) : nil
      })),
    BrokenBackend(
      "cancelled-for-ever", "a cancelled order that is paid stays cancelled",
      hooks: BrokenHooks(
        before: { mock, call in
          guard isMove(call, "cancel"), try MockState.readOrder(&mock, call).state != .delivered else {
            return nil
          }
          mock.brokenMemory.counts["cancelled " + call.parameter] = 1
          return nil
        },
        answers: { response, call, mock in
          guard mock.brokenMemory.counts["cancelled " + call.parameter] != nil, response.status == 200,
            call.request.method == "GET"
          else { return }
          var order = try JSONDecoder().decode(OrderDocument.self, from: Data(response.body))
          order.state = .cancelled
          response = try JSONBody.response(order)
        })),
    BrokenBackend(
      "moves-unknown", "an unknown order can be cancelled",
      hooks: BrokenHooks(answers: { response, call, _ in
        if isMove(call, "cancel") || isMove(call, "defer"), response.status == 404 {
          response = HTTPResponse(status: 200, body: Array("{}".utf8))
        }
      })),
    BrokenBackend(
      "odd-numbers-500", "a number with odd characters is answered 500",
      hooks: BrokenHooks(before: { _, call in
        guard call.request.path.hasPrefix("/v1/orders/"),
          !call.parameter.allSatisfy({ $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "-") })
        else { return nil }
        throw HTTPProblem(status: 500, type: "syntax", title: "Bad query")
      })),
  ]

  private static func isMove(_ call: Route.Call, _ action: String) -> Bool {
    call.request.method == "POST" && call.request.path.hasPrefix("/v1/orders/")
      && call.request.path.hasSuffix("/" + action)
  }

  /// Changes an order before it is cancelled or deferred.
  private static func moving(
    _ action: String, _ change: @escaping @Sendable (inout BackendOrder) -> Void
  ) -> BrokenHooks {
    BrokenHooks(before: { mock, call in
      guard isMove(call, action) else { return nil }
      _ = try MockState.readOrder(&mock, call)
      try write(mock) { model in
        guard var order = model.order(number: call.parameter) else { return [] }
        change(&order)
        return [.order(order)]
      }
      return nil
    })
  }

  /// Changes a page of orders. `change` gets the account, too.
  private static func changingList(
    _ change: @escaping @Sendable (inout OrderListDocument, String, MockState) -> Void
  ) -> BrokenHooks {
    BrokenHooks(answers: { response, call, mock in
      guard isCall(call, "GET", "/v1/orders"), response.status == 200 else { return }
      var list = try JSONDecoder().decode(OrderListDocument.self, from: Data(response.body))
      change(&list, try mock.credentials.account(of: call.request), mock)
      response = try JSONBody.response(list)
    })
  }
}
