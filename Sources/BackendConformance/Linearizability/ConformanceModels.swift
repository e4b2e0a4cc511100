import PurchaseSyncTesting

/// What one idempotency key is: the first request makes the order, and all others get the same.
package enum OrderModel: SequentialModel {
  package struct Input: Hashable, Sendable {
    package init() {}
  }
  /// The number of the order.
  package typealias Output = String

  package enum State: Hashable, Sendable {
    case none
    /// Made by a request without an answer: the number is not known yet.
    case made
    case known(String)
  }

  package static var initial: State { .none }

  package static func step(_ state: State, _ input: Input, _ output: String?) -> State? {
    switch (state, output) {
    case (.none, nil): .made
    case (_, nil): state
    case (.none, let number?), (.made, let number?): .known(number)
    case (.known(let known), let number?): known == number ? state : nil
    }
  }

  package static func words(_ input: Input, _ output: String?) -> String {
    "POST /v1/orders: " + (output.map { "order \($0)" } ?? "no answer")
  }
}

/// What one paid transaction is: credited once, to the owner of its order.
package enum GrantModel: SequentialModel {
  package enum Input: Hashable, Sendable {
    case uploadByOwner, uploadByOther, readOrder
  }
  /// A verdict, or the state of the order.
  package typealias Output = String
  /// Whether it is credited.
  package typealias State = Bool

  package static var initial: Bool { false }

  package static func step(_ isCredited: Bool, _ input: Input, _ output: String?) -> Bool? {
    switch (input, output) {
    case (.uploadByOwner, "granted"): isCredited ? nil : true
    case (.uploadByOwner, "duplicate"): isCredited ? true : nil
    case (.uploadByOther, "otherOwner"), (.uploadByOwner, nil), (.uploadByOther, nil): true
    case (.uploadByOwner, "pending"), (.uploadByOther, "pending"), (.readOrder, nil): isCredited
    case (.readOrder, "delivered"): isCredited ? true : nil
    case (.readOrder, "open"): isCredited ? nil : false
    default: nil
    }
  }

  package static func words(_ input: Input, _ output: String?) -> String {
    let call =
      switch input {
      case .uploadByOwner: "POST /v1/receipts by the order's account"
      case .uploadByOther: "POST /v1/receipts by the other account"
      case .readOrder: "GET /v1/orders/{number}"
      }
    return call + ": " + (output ?? "no answer")
  }
}
