/// The planned attempts, by second: a calendar queue (R. Brown, CACM 31(10), 1988) whose days are seconds. Adding and
/// taking cost the same however many there are. A plan that was replaced stays in its bucket; the reader sees that the
/// device has another plan now.
///
/// A bucket is a chain of chunks out of one pool, so that emptied memory serves later seconds.
struct FleetCalendar {
  /// Fifteen devices and the next chunk: 64 bytes.
  private static let room = 15
  private static var none: UInt32 { .max }

  /// The last chunk of each second, and how many devices it holds.
  private var last: [UInt32]
  private var filled: [UInt8]
  private var pool: [UInt32] = []
  private var free = none

  init(seconds: Int, devices: Int) {
    last = Array(repeating: Self.none, count: seconds)
    filled = Array(repeating: 0, count: seconds)
    // Enough for a plan of each device, and a chunk that is not full in each second of the next hour.
    pool.reserveCapacity((devices / Self.room + min(devices, 3_600)) * (Self.room + 1))
  }

  /// The memory of the chunks.
  var bytes: Int { pool.capacity * MemoryLayout<UInt32>.stride }

  /// Plans beyond the end are not kept.
  mutating func add(_ device: UInt32, second: Int) {
    guard second < last.count else { return }
    if last[second] == Self.none || Int(filled[second]) == Self.room {
      let chunk = chunk()
      pool[Int(chunk) + Self.room] = last[second]
      last[second] = chunk
      filled[second] = 0
    }
    pool[Int(last[second]) + Int(filled[second])] = device
    filled[second] += 1
  }

  /// Appends the devices of a second, which is then empty.
  mutating func take(second: Int, into devices: inout [UInt32]) {
    var chunk = last[second]
    var count = Int(filled[second])
    last[second] = Self.none
    filled[second] = 0
    while chunk != Self.none {
      let begin = Int(chunk)
      devices.append(contentsOf: pool[begin..<begin + count])
      let before = pool[begin + Self.room]
      pool[begin + Self.room] = free
      free = chunk
      (chunk, count) = (before, Self.room)
    }
  }

  private mutating func chunk() -> UInt32 {
    if free != Self.none {
      let chunk = free
      free = pool[Int(chunk) + Self.room]
      return chunk
    }
    let chunk = UInt32(pool.count)
    for _ in 0...Self.room { pool.append(Self.none) }
    return chunk
  }
}
