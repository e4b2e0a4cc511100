import Foundation
import PurchaseQueue
import Testing

@testable import PurchaseSync

@Suite struct SyncErrorTests {
  private static let path = "/private/container/queue.sqlite"
  private static let errors: [SyncError] = [
    .queue(.diskFull(path: path, reason: "ENOSPC")), .queue(.newerSchema(path: path, found: 9, supported: 1)),
    .queue(.queueFull(.entries, needed: 65, allowed: 64)), .queue(.damaged(path: path, what: "a page")),
    .backendUnreachable(reason: "HTTP 502"), .backendRefused(status: 422, reason: "an order was not made"),
    .signInNeeded(account: "alice@example.com"), .store(reason: "no answer"), .encoding(what: "an order"),
    .storeRefused(.notAllowed), .storeRefused(.productUnreachable(reason: "HTTP 502")),
    .storeRefused(.ineligible),
    .storeRefused(.paymentMethodNeeded), .storeRefused(.productUnavailable(productID: "alice")),
  ]

  @Test(arguments: errors)
  func `an error that an app shows says what happened, what about the money, and what to do`(
    error: SyncError
  ) throws {
    let parts = [error.errorDescription, error.failureReason, error.recoverySuggestion]
    for part in try parts.map({ try #require($0) }) {
      #expect(part.hasSuffix(".") && part.count > 12)
      for secret in [Self.path, "alice", "HTTP", "422"] { #expect(!part.contains(secret)) }
    }
    #expect(error.localizedDescription == error.errorDescription, "and not 'error 2'")
    #expect(QueueError.replaced(path: Self.path).localizedDescription.contains("replaced"))
  }

  @Test func `two errors that need different deeds have different texts`() {
    #expect(Set(Self.errors.map(\.recoverySuggestion)).count >= 6)
    #expect(Set(Self.errors.map(\.errorDescription)).count == Self.errors.count)
  }
}
