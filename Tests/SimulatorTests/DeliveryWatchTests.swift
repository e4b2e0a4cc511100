import Testing

@testable import purchase_simulator

/// The seconds from able to delivered.
@Suite struct DeliveryWatchTests {
  private typealias Wait = DeliveryWatch.Wait

  @Test func `a delay counts with its length in production, and the rest with its real time`() {
    let waits = [Wait(from: 1, to: 1.5, seconds: 500)]
    #expect(DeliveryWatch.seconds(from: 0, to: 2, waits) == 501.5)
    #expect(DeliveryWatch.seconds(from: 1.25, to: 2, waits) == 250.5)
    #expect(DeliveryWatch.seconds(from: 3, to: 5, waits) == 2)
  }

  @Test func `of delays that pass at the same time the longest counts`() {
    let waits = DeliveryWatch.holding([
      Wait(from: 0, to: 1, seconds: 10), Wait(from: 0, to: 2, seconds: 200),
    ])
    #expect(DeliveryWatch.seconds(from: 0, to: 2, waits) == 200)
  }

  /// A timer for much later ends while a thousand uploads go out.
  @Test func `a delay does not count while requests go out all the same`() {
    let watch = watch()
    watch.heard(.waited(from: 2, to: 6, seconds: 4_000))
    for moment in [3.0, 4] { watch.worked(at: moment) }
    for moment in [5, 5.5] { watch.heard(.worked(at: moment)) }
    watch.look(charged: ["7"], credited: ["7"], at: 7)
    #expect(watch.seconds == 504.5)
  }

  @Test func `delays one after the other count each, whoever waited for them`() {
    let watch = watch()
    watch.heard(.waited(from: 2, to: 6, seconds: 4_000))
    watch.heard(.waited(from: 2, to: 4, seconds: 2_000))
    watch.worked(at: 4.5)
    watch.look(charged: ["7"], credited: ["7"], at: 6)
    #expect(watch.seconds == 3_500.5)
  }

  /// A watch of one purchase that was paid while the app was open.
  private func watch() -> DeliveryWatch {
    let watch = DeliveryWatch()
    watch.launched(at: 1)
    watch.look(charged: ["7"], credited: [], at: 2)
    return watch
  }

  @Test func `a purchase is able only when a fault no longer strikes`() {
    let watch = watch()
    watch.requested(fault: "respond 503", at: 10)
    watch.requested(fault: nil, at: 12.5)
    watch.look(charged: ["7"], credited: ["7"], at: 13)
    #expect(watch.seconds == 3)
  }

  @Test func `after a refused token a purchase is able only with the next request`() {
    let watch = watch()
    watch.requested(fault: "respond 401", at: 10)
    watch.requested(fault: nil, at: 7_000)
    watch.requested(fault: nil, at: 7_000.5)
    watch.look(charged: ["7"], credited: ["7"], at: 7_001)
    #expect(watch.seconds == 1)
  }

  @Test func `a tap does not begin the time anew, and a sign-in does`() {
    let watch = watch()
    watch.heard(.waited(from: 3, to: 4, seconds: 4_000))
    watch.look(charged: ["7"], credited: ["7"], at: 5)
    #expect(watch.seconds == 4_002)
    watch.heard(.changed(at: 4.5))
    #expect(watch.seconds == 0.5)
  }

  @Test func `what is credited while no app is open is not measured`() {
    let watch = watch()
    watch.ended(at: 3)
    watch.look(charged: ["7"], credited: ["7"], at: 90)
    #expect(watch.seconds == nil)
  }

  @Test func `notes are read from lines, and other lines are none`() {
    let waited = DeliveryNote.waited(from: 1.5, to: 2.25, seconds: 750)
    #expect(DeliveryNote(line: waited.line) == waited)
    #expect(DeliveryNote(line: DeliveryNote.changed(at: 3.5).line) == .changed(at: 3.5))
    #expect(DeliveryNote(line: DeliveryNote.worked(at: 3.5).line) == .worked(at: 3.5))
    #expect(DeliveryNote(line: "hello") == nil)
    #expect(DeliveryNote(line: "delivery-note waited 1 x 3") == nil)
  }
}
