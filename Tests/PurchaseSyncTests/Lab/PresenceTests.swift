import PurchaseSQLite
import Testing

@testable import PurchaseSync

/// Where the app is, without an engine: an open file in the background, or a wait that outlives its visit.
@Suite struct PresenceTests {
  private enum Event: CaseIterable { case foreground, work, leave, hasLeft }

  private static func presence(_ events: [Event]) -> Presence {
    var presence = Presence()
    for event in events {
      switch event {
      case .foreground: presence.cameToForeground()
      case .work: _ = presence.beginsWork()
      case .leave: presence.leaves()
      case .hasLeft: presence.hasLeft()
      }
    }
    return presence
  }

  private static let table: [([Event], Presence.Place, isSuspended: Bool, closesFile: Bool)] = [
    ([], .unknown, false, false),
    ([.foreground], .foreground, false, false),
    ([.foreground, .work], .foreground, false, false),
    ([.work], .working, false, false),
    ([.leave], .leaving, true, false),
    ([.leave, .work], .working, false, false),
    ([.leave, .hasLeft], .background, true, true),
    ([.leave, .hasLeft, .leave], .leaving, true, false),
    ([.foreground, .leave, .hasLeft, .work], .working, false, false),
    ([.leave, .hasLeft, .foreground], .foreground, false, false),
  ]

  @Test(arguments: table)
  private func `the events of an app lead to its place`(
    events: [Event], place: Presence.Place, isSuspended: Bool, closesFile: Bool
  ) {
    let presence = Self.presence(events)
    #expect(presence.place == place)
    #expect(presence.isSuspended == isSuspended)
    #expect(presence.closesFile == closesFile)
    #expect(presence.foregrounds == events.count { $0 == .foreground })
  }

  @Test func `a call inside another one does not close the file`() {
    var presence = Self.presence([.leave, .hasLeft])
    presence.callBegins()
    presence.callBegins()
    presence.callEnds()
    #expect(!presence.closesFile)
    presence.callEnds()
    #expect(presence.closesFile)
  }

  @Test func `a wait for the background ends with the next foreground, also if the app leaves again`() {
    var presence = Self.presence([.leave])
    let visit = presence.foregrounds
    #expect(presence.isSuspended(since: visit))
    presence.cameToForeground()
    presence.leaves()
    #expect(!presence.isSuspended(since: visit))
  }
}

/// Waits for changes that come late, early, or never.
@Suite struct ChangeSignalTests {
  private let now = ContinuousClock.now
  private var system: SystemDependencies {
    var system = SystemDependencies.live
    // The time of the deadline never comes.
    system.patience = { _ in try await Task.sleep(for: .seconds(3_600)) }
    return system
  }

  @Test func `a change between the question and the wait is not missed`() async {
    let (signal, asked) = (ChangeSignal(), Locked(0))
    let hasEnded = await ChangeSignal.wait(for: [signal], before: now + .seconds(3_600), system) {
      asked.withLock { $0 += 1 }
      signal.send()
      return asked.value < 3
    }
    #expect(hasEnded)
    #expect(asked.value == 3)
  }

  @Test func `a deadline that is over waits for nothing`() async {
    let isOver = await ChangeSignal.wait(for: [], before: now, system) { true }
    #expect(!isOver)
  }

  @Test func `a cancelled caller waits for nothing`() async {
    let (system, deadline) = (self.system, now + .seconds(3_600))
    let waiting = Task { await ChangeSignal.wait(for: [ChangeSignal()], before: deadline, system) { true } }
    waiting.cancel()
    let hasEnded = await waiting.value
    #expect(!hasEnded)
  }
}
