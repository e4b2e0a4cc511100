import MemoryModels
import PurchaseQueue
import PurchaseSyncTesting
import Testing

@testable import PurchaseSync

@Suite struct AdoptionTests {
  private static let policy = RetryPolicy()

  private func end(
    _ adoption: inout Adoption, _ failure: UploadFailure, _ retry: inout RetryLedger
  ) -> Adoption.End {
    var delays = Delays(Self.policy, seed: 1)
    return adoption.failed(failure, &retry, now: midday, &delays)
  }

  @Test(arguments: [
    (UploadFailure.retry(reason: "", retryAfterMilliseconds: nil), Adoption.End.failed, 1, true),
    (.backendBusy(reason: "", retryAfterMilliseconds: 1_000), .failed, 1, true),
    (.backendFault(reason: ""), .failed, 1, false), (.unprepared(reason: ""), .failed, 0, false),
    (.accountRefused, .failed, 0, false),
    (.signInNeeded, .needsSignIn, 0, false), (.interrupted, .waits, 0, false),
  ])
  func `what each failure means`(
    failure: UploadFailure, expected: Adoption.End, failures: Int, isFailing: Bool
  ) {
    var adoption = Adoption(throughPlace: 7)
    var retry = RetryLedger()
    adoption.sent(isLast: false)
    #expect(end(&adoption, failure, &retry) == expected)
    #expect(adoption.activity == (expected == .needsSignIn ? .signInNeeded : .idle))
    #expect(adoption.backoff.failures == failures)
    #expect(retry.state.pace.isFailing == isFailing)
  }

  @Test(arguments: [(true, Adoption.End.ended, false), (false, .goesOn, true)])
  func `only a request without entries left ends the adoption`(
    isLast: Bool, expected: Adoption.End, isTaken: Bool
  ) {
    var adoption = Adoption(throughPlace: 7)
    adoption.sent(isLast: isLast)
    #expect(adoption.taken() == expected)
    #expect(adoption.isTaken == isTaken)
    #expect(adoption.activity == .idle)
  }

  @Test func `refused credentials say nothing about newer ones`() {
    var adoption = Adoption(throughPlace: 7)
    var retry = RetryLedger()
    adoption.sent(isLast: false)
    adoption.signedIn()
    #expect(end(&adoption, .signInNeeded, &retry) == .goesOn)
    adoption.sent(isLast: false)
    #expect(end(&adoption, .signInNeeded, &retry) == .needsSignIn)
    adoption.signedIn()
    #expect(adoption.activity == .idle)
  }

  @Test func `a request in flight is not the last of an adoption that was requested since`() {
    var earlier = Adoption(throughPlace: 7)
    earlier.sent(isLast: true)
    var adoption = Adoption(throughPlace: 9, for: .person)
    adoption.replaces(earlier)
    #expect(adoption.taken() == .goesOn)
  }

  // MARK: The table

  private func send(_ table: inout AdoptionTable, _ storage: MemoryStorage) -> [String] {
    var retry = RetryLedger()
    return table.sendDue(from: storage, &retry, now: midday, policy: Self.policy).claimed
  }

  @Test func `accounts are sent one after the other, each once`() throws {
    let storage = MemoryStorage()
    var table = AdoptionTable()
    for account in ["carol", "alice", "bob"] { try table.request(by: account, in: storage) }
    for account in ["carol", "alice", "bob"] {
      #expect(send(&table, storage) == [account])
      #expect(send(&table, storage) == [], "a later request would get what the earlier one asked for")
      _ = try table.taken(by: account, in: storage)
    }
    #expect(table.isEmpty)
  }

  @Test func `an adoption whose account never signs in can be withdrawn, and the next one goes out`() throws {
    let storage = MemoryStorage()
    var table = AdoptionTable()
    for account in ["gone", "alice"] { try table.request(by: account, in: storage) }
    #expect(try table.withdraw("gone", in: storage))
    #expect(send(&table, storage) == ["alice"])
    #expect(try !table.withdraw("alice", in: storage), "the backend may have it")
    #expect(try !table.withdraw("gone", in: storage))
    #expect(storage.deviceAdoptions().map(\.account) == ["alice"])
  }

  @Test func `an adoption that the backend has taken cannot be withdrawn because the app asked again`() throws
  {
    let storage = MemoryStorage()
    let transaction = bought("100")
    let match = try OrderMatcher.match(transaction, from: storage)
    _ = try storage.enqueue(transaction, match, storeAccount: nil, now: midday)
    var table = AdoptionTable()
    try table.request(by: "alice", in: storage)
    #expect(send(&table, storage) == ["alice"])
    #expect(try table.taken(by: "alice", in: storage))
    try table.request(by: "alice", in: storage)
    #expect(try !table.withdraw("alice", in: storage))
  }

  @Test func `a repeated request that is in flight lets no later one pass`() throws {
    let storage = MemoryStorage()
    var table = AdoptionTable()
    try table.request(by: "alice", in: storage)
    #expect(send(&table, storage) == ["alice"])
    try table.request(by: "bob", in: storage)
    try table.request(by: "alice", in: storage)
    #expect(send(&table, storage) == [], "alice's is in flight")
  }

  @Test func `an adoption that was taken waits for what it covers`() throws {
    let storage = MemoryStorage()
    let transaction = bought("100")
    let match = try OrderMatcher.match(transaction, from: storage)
    _ = try storage.enqueue(transaction, match, storeAccount: nil, now: midday)
    #expect(storage.entry(key("100"))?.lane == .device)
    var table = AdoptionTable()
    try table.request(by: "alice", in: storage)
    #expect(send(&table, storage) == ["alice"])
    #expect(try table.taken(by: "alice", in: storage))
    #expect(send(&table, storage) == [], "the device lane holds an entry that the adoption covers")
    _ = try storage.acknowledge([SettledClaim(key: key("100"), verdict: .granted)], now: midday)
    #expect(send(&table, storage) == ["alice"])
    #expect(try !table.taken(by: "alice", in: storage))
    #expect(table.isEmpty)
    #expect(storage.deviceAdoptions().isEmpty)
  }

  @Test func `a wider adoption of another process goes on`() throws {
    let storage = MemoryStorage()
    var table = AdoptionTable()
    try table.request(by: "alice", in: storage)
    #expect(send(&table, storage) == ["alice"])
    let transaction = bought("100")
    let match = try OrderMatcher.match(transaction, from: storage)
    _ = try storage.enqueue(transaction, match, storeAccount: nil, now: midday)
    _ = storage.keepAdoption(of: "alice")
    #expect(try table.taken(by: "alice", in: storage))
    #expect(table.state(of: "alice")?.throughPlace == 1)
  }
}
