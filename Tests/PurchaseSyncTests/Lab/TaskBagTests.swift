import PurchaseSQLite
import Testing

@testable import PurchaseSync

/// The tasks of an actor: one that outlives the one that took its place, or that is cancelled with others.
@Suite struct TaskBagTests {
  private enum Name: CaseIterable { case retry, sale }

  /// A task that ends when it is cancelled.
  private static func waiting() -> Task<Void, Never> {
    Task {
      let (nothing, _) = AsyncStream.makeStream(of: Never.self)
      for await _ in nothing {}
    }
  }

  @Test func `a task that takes the place of another one cancels it`() async {
    var bag = TaskBag<Name>()
    let (first, second) = (Self.waiting(), Self.waiting())
    bag[.retry] = first
    bag[.retry] = second
    await first.value
    #expect(!second.isCancelled)
    bag[.retry] = nil
    await second.value
  }

  @Test func `at the end those that are to go on are not cancelled`() async {
    var bag = TaskBag<Name>()
    let (listener, sale) = (Self.waiting(), Self.waiting())
    bag.add { _ in listener }
    bag[.sale] = sale
    bag.cancel { $0 != .sale }
    await listener.value
    #expect(!sale.isCancelled)
    bag.cancel { _ in true }
    await sale.value
  }
}
