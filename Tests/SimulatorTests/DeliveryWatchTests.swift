import PurchaseQueue
import PurchaseSQLite
import PurchaseSync
import Testing

@testable import purchase_simulator

/// The seconds from able to delivered.
@Suite struct DeliveryWatchTests {
  /// A watch of purchase 7, which was paid after 2 s, while the app was open.
  private struct Course {
    let watch: DeliveryWatch
    private let time: Locked<Int64>

    init() {
      let time = Locked<Int64>(1_000)
      self.time = time
      watch = DeliveryWatch { Timestamp(milliseconds: time.value) }
      watch.launched()
      at(2)
      watch.look(charged: ["7"], credited: [])
    }

    func at(_ seconds: Double) { time.withLock { $0 = Int64(seconds * 1_000) } }

    func delivered(at seconds: Double) {
      at(seconds)
      watch.look(charged: ["7"], credited: ["7"])
    }
  }

  @Test func `a purchase is able when it is paid`() {
    let course = Course()
    course.delivered(at: 61.5)
    #expect(course.watch.seconds == 59.5)
    course.delivered(at: 70)
    #expect(course.watch.seconds == 59.5)
  }

  @Test func `a purchase is able only when a fault no longer strikes`() {
    let course = Course()
    course.at(10)
    course.watch.requested(fault: "respond 503")
    course.at(12.5)
    course.watch.requested(fault: nil)
    course.delivered(at: 13)
    #expect(course.watch.seconds == 3)
  }

  @Test func `after a refused token a purchase is able only with the next request`() {
    let course = Course()
    course.at(10)
    course.watch.requested(fault: "respond 401")
    for moment in [7_000, 7_000.5] {
      course.at(moment)
      course.watch.requested(fault: nil)
    }
    course.delivered(at: 7_001)
    #expect(course.watch.seconds == 1)
  }

  @Test func `a tap does not begin the time again, and a sign-in does`() {
    let course = Course()
    course.delivered(at: 5)
    #expect(course.watch.seconds == 3)
    course.watch.changed(at: Timestamp(milliseconds: 4_500))
    #expect(course.watch.seconds == 0.5)
  }

  @Test func `what is credited while no app is open is not measured, also if no time passes until then`() {
    let course = Course()
    course.at(90)
    course.watch.ended()
    course.delivered(at: 90)
    #expect(course.watch.seconds == nil)
    course.watch.launched()
    course.delivered(at: 90)
    #expect(course.watch.seconds == nil)
  }

  @Test func `changes are read from lines, and other lines are none`() {
    let change = DeliveryChange(at: Timestamp(milliseconds: 3_500))
    #expect(DeliveryChange(line: change.line) == change)
    #expect(DeliveryChange(line: "hello") == nil)
    #expect(DeliveryChange(line: "can-deliver-from x") == nil)
    #expect(DeliveryChange(line: change.line + " 1") == nil)
  }
}
