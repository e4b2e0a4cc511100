import Foundation
import PurchaseQueue
import Testing

@testable import PurchaseSync

/// Where an order is made, without an engine: an order that no backend was asked for, or none at all.
@Suite struct OrderMakingTests {
  private enum Event: Hashable {
    case taken, unreachable, refused, signedOut, fileFails
    case givenUp(SyncError)

    func happen(to making: inout OrderMaking) {
      switch self {
      case .taken: making.wasTaken(isGivenUp: false)
      case .unreachable: making.failed(OrderMakingTests.unreachable, isGivenUp: false)
      case .refused: making.failed(OrderMakingTests.refused, isGivenUp: false)
      case .signedOut: making.failed(.signInNeeded(account: "alice"), isGivenUp: false)
      case .fileFails: making.failed(.queue(.closed(path: "file")), isGivenUp: false)
      case .givenUp(let error): making.failed(error, isGivenUp: true)
      }
    }
  }

  private static let unreachable = SyncError.backendUnreachable(reason: "down")
  private static let refused = SyncError.backendRefused(status: 422, reason: "not now")
  private static let taken = SyncError.backendUnreachable(
    reason: "each order that was made is taken by another process, or is not open")
  private static let first = OrderPolicy.backendFirst(timeLimit: .seconds(3))

  private static let table: [(OrderPolicy, [Event], OrderMaking.Step)] = [
    (.backendOnly, [], .ask(within: nil)), (first, [], .ask(within: .seconds(3))), (.deviceOnly, [], .make),
    (.backendOnly, [.unreachable], .fail(unreachable)), (first, [.unreachable], .make),
    (.backendOnly, [.refused], .fail(refused)), (first, [.refused], .fail(refused)),
    (first, [.signedOut], .fail(.signInNeeded(account: "alice"))),
    (first, [.fileFails], .fail(.queue(.closed(path: "file")))),
    (first, [.givenUp(unreachable)], .fail(unreachable)), (first, [.givenUp(refused)], .fail(refused)),
    (first, Array(repeating: .taken, count: 7), .ask(within: .seconds(3))),
    (first, Array(repeating: .taken, count: 7) + [.unreachable], .make),
    (first, Array(repeating: .taken, count: 8), .make),
    (.backendOnly, Array(repeating: .taken, count: 7), .ask(within: nil)),
    (.backendOnly, Array(repeating: .taken, count: 8), .fail(taken)),
  ]

  @Test(arguments: table)
  private func `the policy and what the backend says lead to one maker, or to an error`(
    policy: OrderPolicy, events: [Event], step: OrderMaking.Step
  ) {
    var making = OrderMaking(policy)
    for event in events { event.happen(to: &making) }
    #expect(making.step == step)
  }

  private func document(product: String = "gems", quantity: Int = 2, _ state: OrderState) -> OrderDocument {
    OrderDocument(
      number: "1", accountToken: UUID(), productID: product, quantity: quantity, state: state,
      createdAt: Timestamp(milliseconds: 0))
  }

  private let wish = OrderWish(account: "alice", product: "gems", quantity: 2)

  @Test func `an order for something else, or of another account, is never paid`() {
    for wrong in [document(product: "gold", .open), document(quantity: 1, .open)] {
      let error = #expect(throws: SyncError.self) { try OrderMaking.check(wrong, for: wish) { nil } }
      #expect(error.map(OrderMaking.isFinal) == false, "the same request may bring the right order")
    }
    let error = #expect(throws: SyncError.orderUnusable(reason: "of bob")) {
      try OrderMaking.check(document(.open), for: wish) { "of bob" }
    }
    #expect(error.map(OrderMaking.isFinal) == true)
  }

  @Test func `an order that is over is asked for again, whoever has it`() throws {
    #expect(try !OrderMaking.check(document(.cancelled), for: wish) { "of bob" })
    #expect(try !OrderMaking.check(document(.delivered), for: wish) { nil })
    #expect(try OrderMaking.check(document(.open), for: wish) { nil })
  }
}
