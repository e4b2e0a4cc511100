/// The planned attempts, by second: a calendar queue (R. Brown, CACM 31(10), 1988) whose days are seconds. Adding and
/// taking cost the same however many there are. A plan that was replaced stays in its bucket; the reader sees that the
/// device has another plan now.
struct FleetCalendar {
  private var buckets: [[UInt32]]
  /// Emptied buckets, whose memory is used again.
  private var spare: [[UInt32]] = []
  private(set) var peakBytes = 0
  private var bytes = 0

  init(seconds: Int) { buckets = Array(repeating: [], count: seconds) }

  /// Plans beyond the end are not kept.
  mutating func add(_ device: UInt32, second: Int) {
    guard second < buckets.count else { return }
    let before = buckets[second].capacity
    if before == 0, let reused = spare.popLast() { buckets[second] = reused }
    buckets[second].append(device)
    let after = buckets[second].capacity
    if after != before {
      if before > 0 || after > 0 { bytes += (after - before) * MemoryLayout<UInt32>.stride }
      peakBytes = max(peakBytes, bytes)
    }
  }

  /// The devices of a second. They are given back with `recycle`.
  mutating func take(second: Int) -> [UInt32] {
    var taken: [UInt32] = []
    swap(&taken, &buckets[second])
    return taken
  }

  /// Keeps the memory of a few buckets.
  mutating func recycle(_ bucket: [UInt32]) {
    guard bucket.capacity > 0 else { return }
    bytes -= bucket.capacity * MemoryLayout<UInt32>.stride
    guard spare.count < 16 else { return }
    var bucket = bucket
    bucket.removeAll(keepingCapacity: true)
    spare.append(bucket)
  }
}
