import Dispatch

/// A moment on the monotonic clock by which something has to have happened.
struct Deadline {
  private let nanoseconds: UInt64

  init(inMilliseconds milliseconds: Int) {
    // Bounded to 24 days, which is what poll() takes and leaves the sum far from overflow.
    let bounded = UInt64(min(max(milliseconds, 0), Int(Int32.max)))
    nanoseconds = DispatchTime.now().uptimeNanoseconds + bounded * 1_000_000
  }

  var hasPassed: Bool { remainingMilliseconds == 0 }

  /// The time left for poll(), rounded up so that it does not spin through the last millisecond.
  var remainingMilliseconds: Int32 {
    let now = DispatchTime.now().uptimeNanoseconds
    guard now < nanoseconds else { return 0 }
    return Int32(clamping: (nanoseconds - now + 999_999) / 1_000_000)
  }
}
