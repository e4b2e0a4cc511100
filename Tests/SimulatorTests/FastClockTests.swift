import CommandLineTools
import Foundation
import PurchaseQueue
import PurchaseSync
import TestSupport
import Testing

@testable import purchase_simulator

/// The clock of a run: of the work, and not of the machine.
@Suite struct FastClockTests {
  private let noon = Timestamp(milliseconds: 1_700_000_000_000)

  /// The clock of a run with one app open, which a test moves, and as the app has it.
  private func clock() throws -> (clock: RunClock, words: FastClock.Words, app: FastClock) {
    try TemporaryDirectory.with("FastClock") { directory in
      let clock = try RunClock(at: directory + "/clock", rate: 1_000, from: noon, goesByItself: false)
      let words = clock.join()
      return (clock, words, try FastClock(words))
    }
  }

  /// A process that reads until its input ends, or one that works all the time.
  private func withProcess<T>(isBusy: Bool, _ body: (Process) async throws -> T) async throws -> T {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/bin/sh")
    process.arguments = ["-c", isBusy ? "while :; do :; done" : "read line"]
    process.standardInput = Pipe()
    try process.run()
    defer {
      process.kill()
      process.waitUntilExit()
    }
    return try await body(process)
  }

  /// Looks each millisecond, for a minute of looks at most.
  private func until(_ condition: () -> Bool, line: Int = #line) async throws {
    for _ in 0..<60_000 {
      if condition() { return }
      try await Task.sleep(for: .milliseconds(1))
    }
    Issue.record("line \(line) waited in vain")
  }

  /// An app that does nothing rests, but it has to begin before.
  private func move(_ clock: RunClock, by milliseconds: Int64, until moment: Timestamp) async throws {
    try await until {
      clock.pass(milliseconds: milliseconds)
      return clock.now() >= moment
    }
  }

  @Test func `each process of a run has the same clock`() throws {
    let (clock, words, app) = try clock()
    #expect(FastClock.Words(words.text) == words)
    #expect(FastClock.Words(clock.words.text) == clock.words)
    #expect(app.now() == noon.adding(milliseconds: 1_000))
    #expect(clock.now() == app.now())
  }

  @Test(arguments: ["", "1:2", "1:-:", "0:-:/f", "x:2:/f", "1:x:/f", "1:-1:/f"])
  func `other words are no clock`(words: String) {
    #expect(FastClock.Words(words) == nil)
  }

  @Test func `the clock stands while no app is open, and until an app that is launched works`() throws {
    let (clock, words, _) = try clock()
    let start = clock.now()
    clock.pass(milliseconds: 60_000)
    #expect(clock.now() == start)
    clock.left(words)
    _ = clock.join()
    #expect(clock.now() == start.adding(milliseconds: 1_000))
  }

  #if os(Linux)
    @Test func `the clock stands while the app works, however busy the machine is`() async throws {
      let (clock, words, _) = try clock()
      try await withProcess(isBusy: true) { process in
        clock.began(words, as: process.processIdentifier)
        let start = clock.now()
        for _ in 0..<100 { clock.pass(milliseconds: 60_000) }
        #expect(clock.now() == start)
      }
    }
  #endif

  @Test func `the clock stands while a request of the app has no answer`() async throws {
    let (clock, words, app) = try clock()
    try await withProcess(isBusy: false) { process in
      clock.began(words, as: process.processIdentifier)
      let start = clock.now()
      try await move(clock, by: 1, until: start.adding(milliseconds: 1))
      await app.whileAsking {
        for _ in 0..<100 { clock.pass(milliseconds: 60_000) }
        #expect(clock.now() == start.adding(milliseconds: 1))
      }
      try await move(clock, by: 60_000, until: start.adding(milliseconds: 60_001))
      #expect(clock.now() == start.adding(milliseconds: 60_001))
    }
  }

  @Test func `a delay has its own length, however late a busy computer ends it`() async throws {
    let (clock, words, app) = try clock()
    try await withProcess(isBusy: false) { process in
      let start = clock.now()
      let (short, long) = (start.adding(milliseconds: 2_000), start.adding(milliseconds: 54_000))
      async let first = ended(app, after: 2_000)
      async let second = ended(app, after: 54_000)
      try await until { app.waiting == 2 }
      clock.began(words, as: process.processIdentifier)
      try await move(clock, by: 1_000_000, until: short)
      #expect(try await first == short)
      try await until { app.waiting == 1 }
      try await move(clock, by: 1_000_000, until: long)
      #expect(try await second == long)
    }
  }

  private func ended(_ clock: FastClock, after delay: Int64) async throws -> Timestamp {
    try await clock.sleep(milliseconds: delay)
    return clock.now()
  }

  @Test func `a delay that is cancelled holds the clock up no longer`() async throws {
    let app = try clock().app
    let sleeper = Task { try await app.sleep(milliseconds: 3_600_000) }
    try await until { app.waiting == 1 }
    sleeper.cancel()
    await #expect(throws: CancellationError.self) { try await sleeper.value }
    #expect(app.waiting == 0)
  }
}
