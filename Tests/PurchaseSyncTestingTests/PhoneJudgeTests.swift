import PurchaseQueue
import PurchaseSync
import Testing

@testable import PurchaseSyncTesting

/// What a lab counts as an obstacle, and what not.
@Suite struct PhoneJudgeTests {
  private static let alice = Lane.account("alice")
  private static let key = EntryKey(rawValue: "Production/100")
  private static let minute: Int64 = 60_000

  /// One launch of one phone, with an engine.
  private struct Course {
    private final class Identity {}
    private let identities = [Identity(), Identity()]
    private(set) var judge = PhoneJudge(name: "phone")
    private let launch: Int
    var now: Int64 = 0

    init() {
      launch = judge.launched()
      open(0)
    }

    mutating func saw(_ sight: EngineSight) { judge.saw(sight, in: launch, at: now) }
    mutating func open(_ engine: Int, with rows: [EntryKey: Lane] = [:]) {
      saw(.opened(ObjectIdentifier(identities[engine]), RetryPolicy(), rows))
    }
    mutating func close(_ engine: Int) { saw(.closed(ObjectIdentifier(identities[engine]))) }
    mutating func isOffline(_ isOffline: Bool) { judge.isOffline(isOffline, at: now) }
    mutating func end() { judge.ended(launch, at: now) }

    mutating func queue() { open(0, with: [key: alice]) }

    /// An upload that ends after so many milliseconds.
    mutating func upload(_ result: UploadClassification?, after time: Int64) {
      saw(.uploadBegins(alice, [key]))
      now += time
      saw(.uploadEnds(alice, [key], result))
    }

    /// Whether the purchase is late when so much more time has passed.
    func isLate(after time: Int64) -> Bool {
      var judge = judge
      judge.check(at: now + time)
      guard case .late? = judge.broken else { return false }
      return true
    }
  }

  @Test func `a purchase that is not sent is late after a minute`() {
    var course = Course()
    course.queue()
    #expect(!course.isLate(after: Self.minute))
    #expect(course.isLate(after: Self.minute + 1))
  }

  @Test(arguments: [
    UploadFailure.retry(reason: "", retryAfterMilliseconds: nil), .backendFault(reason: ""), .accountRefused,
    .requestFailed(reason: "", retryAfterMilliseconds: nil), .laneTaken,
  ])
  func `after a failure that is not the app's, the next attempt has the policy's time`(failure: UploadFailure)
  {
    var course = Course()
    course.queue()
    course.upload(.failure(failure), after: 100)
    #expect(!course.isLate(after: 20 * Self.minute))
    #expect(course.isLate(after: 21 * Self.minute))
  }

  @Test func `an upload that could not be prepared at once is no excuse`() {
    var course = Course()
    course.queue()
    course.upload(.failure(.unprepared(reason: "")), after: 100)
    #expect(course.isLate(after: Self.minute + 1))
  }

  @Test func `a request that hangs, and a slow one, are no delay of the app`() {
    var course = Course()
    course.queue()
    course.upload(.failure(.unprepared(reason: "")), after: 5 * Self.minute)
    #expect(!course.isLate(after: 20 * Self.minute))
    #expect(course.isLate(after: 21 * Self.minute))
  }

  @Test func `a Retry-After holds for all, of an upload and of an adoption`() {
    for isAdoption in [false, true] {
      var course = Course()
      course.queue()
      let busy = UploadFailure.backendBusy(reason: "", retryAfterMilliseconds: 100 * Self.minute)
      if isAdoption { course.saw(.adoptionFailed(busy)) } else { course.upload(.failure(busy), after: 100) }
      course.now += 50 * Self.minute
      course.saw(.woken(.userAsked))
      #expect(!course.isLate(after: 90 * Self.minute))
      #expect(course.isLate(after: 92 * Self.minute))
    }
  }

  @Test func `an account that has to sign in holds up its own purchases only, until it has signed in`() {
    var course = Course()
    course.queue()
    course.saw(.event(.signInNeeded(Self.alice)))
    #expect(!course.isLate(after: 100 * Self.minute))
    course.now += 100 * Self.minute
    course.saw(.woken(.signedIn(account: "bob")))
    #expect(!course.isLate(after: 100 * Self.minute))
    course.saw(.woken(.signedIn(account: "alice")))
    #expect(course.isLate(after: Self.minute + 1))
  }

  @Test func `the background, a second engine, and a launch that is over are not judged`() {
    var suspended = Course()
    suspended.queue()
    suspended.saw(.suspended)
    #expect(!suspended.isLate(after: 100 * Self.minute))
    suspended.now += 100 * Self.minute
    suspended.saw(.woken(.foreground))
    #expect(suspended.isLate(after: Self.minute + 1))
    var twice = Course()
    twice.queue()
    twice.open(1)
    #expect(!twice.isLate(after: 100 * Self.minute))
    twice.close(1)
    #expect(!twice.isLate(after: 100 * Self.minute), "the other one may have delivered it")
    var over = Course()
    over.queue()
    over.end()
    over.queue()
    #expect(!over.isLate(after: 100 * Self.minute))
  }

  @Test func `what the backend leaves open, and what a person discards, is not late`() {
    var open = Course()
    open.queue()
    open.upload(.verdicts(UploadReply(ledgerEpoch: "1", verdicts: [])), after: 100)
    #expect(!open.isLate(after: 100 * Self.minute))
    var discarded = Course()
    discarded.queue()
    discarded.saw(.discarded(Self.key))
    #expect(!discarded.isLate(after: 100 * Self.minute))
  }

  @Test func `an offline phone has time from the moment at which the network is back`() {
    var course = Course()
    course.queue()
    course.isOffline(true)
    course.now += 300 * Self.minute
    course.isOffline(false)
    #expect(!course.isLate(after: 20 * Self.minute))
    course.saw(.woken(.networkBack))
    course.now += 30_000
    course.saw(.woken(.userAsked))
    #expect(course.isLate(after: 30_001), "a tap gives the app no more time")
  }

  @Test func `lists of the store without end have no pace, and launches bring calls of their own`() {
    var course = Course()
    for _ in 0..<PaceLimits().storeCalls { course.saw(.calls(.store)) }
    var other = course
    for _ in 0..<10 { course.saw(.calls(.store)) }
    guard case .unpaced? = course.judge.broken else {
      Issue.record("no limit")
      return
    }
    other.open(0)
    for _ in 0..<10 { other.saw(.calls(.store)) }
    #expect(other.judge.broken == nil)
  }
}
