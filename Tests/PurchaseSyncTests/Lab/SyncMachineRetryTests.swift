import MemoryModels
import PurchaseQueue
import PurchaseSyncTesting
import TestSupport
import Testing

@testable import PurchaseSync

/// Uploads without verdicts: which lanes and entries wait, for how long, and which entries are postponed.
@Suite struct SyncMachineRetryTests {
  private let busy = UploadFailure.backendBusy(reason: "HTTP 503", retryAfterMilliseconds: 600_000)
  private let down = UploadFailure.retry(reason: "no answer", retryAfterMilliseconds: nil)
  private let failsOnIt = UploadFailure.requestFailed(reason: "HTTP 500", retryAfterMilliseconds: nil)

  /// A run with one entry of alice and one of bob in flight.
  private func twoLanes() throws -> MachineRun {
    var run = try MachineRun(orders: [1, 2, 3])
    run.storage.book.add(9, account: "bob", product: "coins")
    _ = try run.arrive(bought("100", token: 1))
    _ = try run.arrive(payment("200", token: orderToken(9), product: "coins"))
    return run
  }

  @Test func `after a failure the lane waits, reports until when, and tries again`() throws {
    var run = try MachineRun()
    _ = try run.arrive(bought("100", token: 1))
    let actions = try run.fail(alice, down)
    #expect(actions.sent == [])
    let until = try #require(actions.wakes.min())
    #expect(actions.events == [.waiting(alice, reason: "no answer", until: until)])
    #expect(until >= midday.adding(milliseconds: 1_000), "the pace of an outage")
    #expect(until <= midday.adding(milliseconds: 2_000))
    #expect(run.letPass(2_000).sent == [["100"]])
    #expect(run.entry("100")?.attempts == 2)
  }

  @Test func `a backend that is busy holds every lane, whatever wakes them`() throws {
    var run = try twoLanes()
    _ = try run.fail(alice, busy)
    _ = run.reply(bob, ["200": .granted])
    _ = try run.arrive(bought("101", token: 2))
    _ = try run.arrive(bought("102"))
    for reason in [WakeReason.foreground, .networkBack, .userAsked, .signedIn(account: "alice")] {
      #expect(run.wake(reason).sent == [])
    }
    #expect(run.letPass(599_999).sent == [])
    #expect(run.letPass(120_001).sent != [])
  }

  @Test func `Retry-After survives a kill`() throws {
    var run = try twoLanes()
    _ = try run.fail(alice, busy)
    #expect(try run.restart(after: 1_000).sent == [])
    #expect(run.wake(.userAsked).sent == [])
    #expect(run.letPass(598_999).sent == [])
    #expect(run.letPass(121_000).sent != [])
  }

  @Test func `Retry-After of another status holds its lane only, and survives a kill`() throws {
    var run = try twoLanes()
    _ = try run.fail(alice, .retry(reason: "HTTP 500", retryAfterMilliseconds: 600_000))
    _ = run.reply(bob, ["200": .granted])
    _ = try run.arrive(payment("201", product: "coins"))
    #expect(run.letPass(2_000).sent == [["201"]], "another lane")
    _ = run.reply(run.storage.entry(key("201"))?.lane ?? .device, ["201": .granted])
    _ = try run.restart(after: 1_000)
    #expect(run.wake(.userAsked).sent == [])
    #expect(run.letPass(590_000).sent == [])
    #expect(run.letPass(130_000).sent == [["100"]])
  }

  @Test func `a fault of the backend is reported, and retried`() throws {
    var run = try MachineRun()
    _ = try run.arrive(bought("100", token: 1))
    #expect(try run.fail(alice, .backendFault(reason: "HTTP 400")).faults == ["HTTP 400"])
    #expect(run.letPass(2_000).sent == [["100"]])
  }

  @Test func `a protocol that the backend does not speak is retried at the pace of the ceiling`() throws {
    var run = try MachineRun()
    _ = try run.arrive(bought("100", token: 1))
    _ = try run.fail(alice, .otherProtocol(reason: "HTTP 400"))
    #expect(run.letPass(899_999).sent == [])
    #expect(run.letPass(300_001).sent == [["100"]])
  }

  @Test func `a lane without credentials waits for a sign-in, and the others do not`() throws {
    var run = try twoLanes()
    #expect(try run.fail(alice, .signInNeeded) == [.emit(.signInNeeded(alice))])
    #expect(run.wake(.networkBack).sent == [])
    #expect(run.wake(.signedIn(account: "bob")).sent == [])
    #expect(run.letPass(inDays(2)).sent == [])
    #expect(run.reply(bob, ["200": .granted]).delivered.count == 1)
    #expect(run.wake(.signedIn(account: "alice")).sent == [["100"]])
  }

  @Test(arguments: [WakeReason.foreground, .userAsked])
  func `an app that forgot to say who signed in is not stuck`(reason: WakeReason) throws {
    var run = try MachineRun()
    _ = try run.arrive(bought("100", token: 1))
    _ = try run.fail(alice, .signInNeeded)
    #expect(run.wake(reason).sent == [["100"]])
  }

  @Test func `the device lane never waits for a sign-in`() throws {
    var run = try MachineRun(orders: [])
    _ = try run.arrive(bought("100"))
    let actions = try run.fail(.device, .signInNeeded)
    #expect(actions.faults == ["the device's credential was refused"])
    #expect(run.letPass(3_600_000).sent == [["100"]])
  }

  @Test(arguments: [UploadFailure.laneTaken, .unprepared(reason: "the vault is locked")])
  func `an upload that was not sent is retried ever more slowly, and no failure is counted`(
    failure: UploadFailure
  ) throws {
    var run = try MachineRun()
    _ = try run.arrive(bought("100", token: 1))
    _ = try run.fail(alice, failure)
    #expect(run.storage.watch(of: key("100")) == PoisonWatch())
    #expect(!run.machine.retryState.pace.isFailing)
    #expect(run.letPass(2_000).sent == [["100"]])
    let end = run.now.adding(milliseconds: inDays(1))
    var sends = 0
    while run.now < end {
      if run.isSending(alice) { _ = try run.fail(alice, failure) }
      if !run.letPass(3_600_000).sent.isEmpty { sends += 1 }
    }
    #expect((60...100).contains(sends), "\(sends) times in a day")
    #expect(!run.machine.retryState.pace.isFailing)
    if run.isSending(alice) { _ = try run.fail(alice, failure) }
    // The user opens the app again.
    #expect(run.wake(.foreground).sent == [["100"]] || run.letPass(10_000).sent == [["100"]])
  }

  @Test func `an upload that the engine ended is no failure, and is sent at the next wake-up`() throws {
    var run = try MachineRun()
    _ = try run.arrive(bought("100", token: 1))
    #expect(try run.fail(alice, .interrupted) == [])
    #expect(run.wake(.foreground).sent == [["100"]])
  }

  @Test func `an entry whose proof is missing is postponed, and the others pass it`() throws {
    var run = try MachineRun()
    _ = try run.arrive(bought("100", token: 1))
    _ = try run.arrive(bought("101", token: 2))
    let actions = try run.fail(alice, .proofMissing)
    #expect(actions.postponed == ["100"])
    #expect(actions.sent == [["101"]])
  }

  // MARK: Budget

  /// The number of uploads that are sent within a time if all of them fail, with or without requests of the user.
  private func uploads(
    in milliseconds: Int64, _ run: inout MachineRun, asking reason: WakeReason?
  ) throws -> Int {
    var count = 0
    let end = run.now.adding(milliseconds: milliseconds)
    while run.now < end {
      if run.isSending(alice) { _ = try run.fail(alice, down) }
      run.now = run.now.adding(milliseconds: 5_000)
      let actions = (reason.map { run.wake($0) } ?? []) + run.fire(at: run.now)
      count += actions.sent.count
    }
    return count
  }

  @Test func `wakes of an hour cost a hundred requests at most, and taps are not refused`() throws {
    var waking = try MachineRun()
    for id in 0..<30 { _ = try waking.arrive(bought(String(id), token: 1)) }
    let hour = try uploads(in: 3_600_000, &waking, asking: .networkBack)
    #expect((80...100).contains(hour), "\(hour)")
    // One try for each tap, although the budget is used up.
    let taps = try uploads(in: 600_000, &waking, asking: .userAsked)
    #expect((118...120).contains(taps), "\(taps)")
  }

  @Test func `wakes that used up the budget leave less than a minute to the next request`() throws {
    var run = try MachineRun()
    _ = try run.arrive(bought("100", token: 1))
    _ = try uploads(in: 600_000, &run, asking: .foreground)
    if run.isSending(alice) { _ = try run.fail(alice, down) }
    let woken = run.now
    #expect(!run.wake(.networkBack).sent.isEmpty || !run.letPass(60_000).sent.isEmpty)
    #expect(run.now.milliseconds(since: woken) <= 45_000)
  }

  @Test func `a kill refills no budget`() throws {
    var run = try MachineRun()
    for id in 0..<30 { _ = try run.arrive(bought(String(id), token: 1)) }
    _ = try uploads(in: 600_000, &run, asking: .networkBack)
    var count = 0
    for _ in 0..<100 {
      count += try run.restart(after: 1_000).sent.count
      count += run.fire(at: run.now.adding(milliseconds: 6_000)).sent.count
    }
    // 700 seconds.
    #expect(count <= 17, "\(count)")
    #expect(run.machine.retryState.budget.spent(now: run.now, policy: run.machine.policy) >= 19)
  }

  @Test func `an app that crashes at each launch does not send a request at each launch`() throws {
    var run = try MachineRun()
    _ = try run.arrive(bought("100", token: 1))
    var count = 0
    for _ in 0..<500 {
      count += try run.restart(after: 3_000).sent.count
      count += run.fire(at: run.now.adding(milliseconds: 5_000)).sent.count
    }
    // An hour and six minutes.
    #expect(count <= 110, "\(count)")
    #expect(run.entry("100")?.attempts == count + 1)
  }

  @Test func `after an outage, uploads are a second apart`() throws {
    var run = try MachineRun(orders: [])
    _ = try run.arrive(bought("first"))
    _ = try run.fail(.device, down)
    // Proofs that are too long to share an upload.
    let long = String(repeating: "x", count: 3 << 20)
    for id in 0..<5 { _ = try run.arrive(bought(String(id), proof: long + String(id))) }
    var moments: [Timestamp] = []
    while moments.count < 6 {
      let sent = run.letPass(60_000).sent
      try #require(!sent.isEmpty)
      moments.append(run.now)
      _ = run.reply(.device, [sent[0][0]: .granted])
    }
    for (earlier, later) in zip(moments.dropFirst(), moments.dropFirst(2)) {
      #expect(later.milliseconds(since: earlier) == 1_000)
    }
  }

  // MARK: Poison

  @Test func `an entry that fails again and again is postponed, and the others get through`() throws {
    var run = try MachineRun()
    _ = try run.arrive(bought("100", token: 1))
    _ = try run.arrive(bought("101", token: 2))
    var postponed: [String] = []
    let end = midday.adding(milliseconds: 3_600_000)
    while postponed.isEmpty, run.now < end {
      postponed = try run.fail(alice, failsOnIt).postponed
      _ = run.letPass(3_600_000)
    }
    #expect(postponed == ["100"])
    #expect(run.reply(["101": .granted]).delivered.map(\.key) == [key("101")])
    #expect(run.entry("100")?.state == .queued, "an entry is not dropped because it failed often")
  }

  @Test(.enabled(if: LongTests.areOn))
  func `an entry that fails for a day while others succeed is quarantined, and tried daily`() throws {
    var run = try MachineRun(limits: QueueLimits(entries: 1_000))
    run.storage.book.add(9, account: "bob", product: "coins")
    _ = try run.arrive(bought("100", token: 1))
    var other = 0
    let end = midday.adding(milliseconds: inDays(3))
    while run.entry("100")?.state == .queued, run.now < end {
      if run.isSending(alice) { _ = try run.fail(alice, failsOnIt) }
      other += 1
      _ = try run.arrive(payment("o\(other)", token: orderToken(9), product: "coins"))
      if run.isSending(bob) {
        let sent = run.machine.state(of: bob).sent.map(\.key.id)
        _ = run.reply(bob, Dictionary(uniqueKeysWithValues: sent.map { ($0, Verdict.granted) }))
        for id in sent { _ = try run.confirm(key(id)) }
      }
      _ = run.letPass(600_000)
    }
    #expect(run.entry("100")?.state == .quarantined)
    #expect(run.now >= midday.adding(milliseconds: inDays(1)))
    let released = run.letPass(inDays(1))
    #expect(released.sent == [["100"]])
  }

  @Test func `entries that fail together are sent in ever smaller uploads`() throws {
    var run = try MachineRun(orders: [], limits: QueueLimits(entries: 200))
    _ = try run.arrive(bought("first"))
    let ids = (100..<220).map(String.init)
    for id in ids { _ = try run.arrive(bought(id)) }
    var sent = run.reply(.device, ["first": .granted]).sent
    var sizes: [Int] = []
    for _ in 1...7 {
      sizes.append(sent.first?.count ?? 0)
      _ = try run.fail(.device, failsOnIt)
      sent = run.letPass(3_600_000).sent
    }
    #expect(sizes == [100, 50, 25, 12, 6, 3, 1])
    // The backend is back: a few uploads take them all, in their order. The one that failed alone lets them pass.
    var uploads: [[String]] = []
    while let upload = sent.first {
      uploads.append(upload)
      let actions = run.reply(.device, Dictionary(uniqueKeysWithValues: upload.map { ($0, .granted) }))
      for id in upload { _ = try run.confirm(key(id)) }
      sent = actions.sent.isEmpty ? run.letPass(1_200_000).sent : actions.sent
    }
    #expect(uploads.count <= 12)
    let all = uploads.flatMap(\.self)
    #expect(all.filter { $0 != ids[0] } == Array(ids.dropFirst()))
    #expect(all.count == ids.count)
  }

  @Test func `uploads that get no answer shrink, and one answer ends that`() throws {
    var run = try MachineRun(orders: [], limits: QueueLimits(entries: 200))
    _ = try run.arrive(bought("first"))
    for id in 100..<200 { _ = try run.arrive(bought(String(id))) }
    var sent = run.reply(.device, ["first": .granted]).sent
    var sizes: [Int] = []
    for _ in 1...6 {
      sizes.append(sent.first?.count ?? 0)
      _ = try run.fail(.device, down)
      sent = run.letPass(3_600_000).sent
    }
    #expect(sizes == [100, 50, 25, 12, 6, 3])
    #expect(sent == [["100"]])
    #expect(run.storage.watch(of: key("100")) == PoisonWatch(), "no entry is at fault")
    let rest = run.reply(.device, ["100": .granted]).sent + run.letPass(60_000).sent
    #expect(rest.first?.count == 99)
  }

  @Test(arguments: [
    UploadFailure.retry(reason: "no answer", retryAfterMilliseconds: nil),
    .requestFailed(reason: "HTTP 500", retryAfterMilliseconds: nil), .backendFault(reason: "status 422"),
  ])
  func `one entry that makes uploads fail does not stop a backlog`(_ failure: UploadFailure) throws {
    var run = try MachineRun(orders: [], limits: QueueLimits(entries: 200))
    _ = try run.arrive(bought("first"))
    for id in 100..<160 { _ = try run.arrive(bought(String(id))) }
    var sent = run.reply(.device, ["first": .granted]).sent
    let begun = run.now
    var delivered: Set<String> = []
    while delivered.count < 59, let upload = sent.first {
      guard !upload.contains("137") else {
        _ = try run.fail(.device, failure)
        sent = run.letPass(7_200_000).sent
        continue
      }
      delivered.formUnion(upload)
      let actions = run.reply(.device, Dictionary(uniqueKeysWithValues: upload.map { ($0, .granted) }))
      sent = actions.sent.isEmpty ? run.letPass(7_200_000).sent : actions.sent
    }
    #expect(delivered.count == 59 && !delivered.contains("137"))
    #expect(run.now.milliseconds(since: begun) < 2 * 3_600_000)
  }

  @Test func `a proof that alone is as long as an upload goes alone, and a shared one counts once`() throws {
    var run = try MachineRun(orders: [])
    _ = try run.arrive(bought("first"))
    let long = String(repeating: "x", count: 3 << 20)
    _ = try run.arrive(bought("100", proof: long))
    _ = try run.arrive(bought("101", proof: long))
    _ = try run.arrive(bought("102", proof: long + "y"))
    _ = try run.arrive(bought("103"))
    #expect(run.reply(.device, ["first": .granted]).sent == [["100", "101"]])
    #expect(run.reply(.device, ["100": .granted, "101": .granted]).sent == [["102", "103"]])
  }

  // MARK: Refused tokens

  @Test func `a refused token is asked for anew at once, and then ever more slowly by itself`() throws {
    var run = try MachineRun()
    _ = try run.arrive(bought("100", token: 1))
    #expect(try run.fail(alice, .tokenRefused).sent == [["100"]], "the app is asked for a newer one")
    #expect(try run.fail(alice, .tokenRefused).events == [.signInNeeded(alice)])
    #expect(run.letPass(1_199_999).sent == [])
    #expect(run.letPass(1_200_002).sent == [["100"]])
    #expect(try run.fail(alice, .tokenRefused).events == [.signInNeeded(alice)])
    #expect(run.letPass(2 * 1_200_000 - 1).sent == [])
    #expect(run.letPass(2 * 1_200_000 + 2).sent == [["100"]])
    for _ in 0..<20 {
      _ = try run.fail(alice, .tokenRefused)
      #expect(run.letPass(inDays(1) + 1).sent == [["100"]], "a day is the longest wait")
    }
    #expect(run.reply(["100": .granted]).delivered.count == 1)
  }

  @Test func `a sign-in ends the wait after a refused token`() throws {
    var run = try MachineRun()
    _ = try run.arrive(bought("100", token: 1))
    _ = try run.fail(alice, .tokenRefused)
    _ = try run.fail(alice, .tokenRefused)
    #expect(run.wake(.networkBack).sent == [])
    #expect(run.wake(.signedIn(account: "alice")).sent == [["100"]])
    #expect(try run.fail(alice, .tokenRefused).sent == [["100"]], "a new person, a new token")
  }
}
