import Dispatch
import PurchaseSQLite
import Testing

@Suite struct LockedTests {
  @Test func `Concurrent changes are not lost`() {
    let count = Locked(0)
    DispatchQueue.concurrentPerform(iterations: 1_000) { _ in count.withLock { $0 += 1 } }
    #expect(count.withLock { $0 } == 1_000)
  }

  @Test func `A body that throws releases the lock`() {
    struct Failure: Error {}
    let value = Locked(1)
    #expect(throws: Failure.self) {
      try value.withLock { (value) throws(Failure) in
        value = 2
        throw Failure()
      }
    }
    #expect(value.withLock { $0 } == 2)
  }
}
