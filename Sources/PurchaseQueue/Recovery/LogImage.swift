import PurchaseSQLite

/// The frames of a write-ahead log, read from its bytes without SQLite.
///
/// SQLite reads a log up to the first frame whose checksum is wrong and drops the rest without a word. After a power cut
/// that is right: the rest was not durable. After damage it loses commits that had returned. The difference shows in
/// the frames behind, and in a note (``LogNote``): a frame that continues the checksum of a commit proves that this commit
/// was there, and the note says up to where all was durable. What was promised soon is behind that end. A file without a
/// note, such as a copy, has commits that each synced the log before the next one wrote, for all that is known.
///
/// A frame's checksum continues from the one before. The stored checksum of a damaged frame therefore verifies the frame
/// behind it, and one flipped bit can be corrected.
///
/// In the last commit, a flipped bit and a torn write can look the same. With the bit corrected, both are right: a commit
/// that was not durable may be kept. So this is a correction and no damage.
struct LogImage {
  static let pageSize = 1024
  static let frameSize = 24 + pageSize
  static let headerSize = 32

  /// A frame that counts.
  struct Frame: Hashable {
    /// Where its page begins in `bytes`.
    var offset: Int
    /// The number of its page, from 1.
    var page: Int
    /// For the last frame of a commit, the size of the database in pages; otherwise 0.
    var size: Int
  }

  /// The bytes, with corrected bits.
  private(set) var bytes: [UInt8]
  /// The frames up to the last commit, without those that do not match their checksum.
  private(set) var frames: [Frame] = []
  /// Frames within that range that do not match their checksum. Single rows in them may be whole.
  private(set) var doubtful: [Frame] = []
  /// What is wrong with the log; nil for a log as a kill or a power cut leaves it.
  private(set) var damage: String?
  /// True if the header of the log is damaged: SQLite ignores such a log. That is a loss only if the log holds something
  /// that the file does not hold.
  private(set) var isHeaderDamaged = false

  /// Where the file differs from `bytes`, if the last commit counts by a corrected bit alone. SQLite drops that commit if
  /// the file stays as it is.
  private(set) var correction: Range<Int>?

  /// A bit that may have been flipped instead, if two explanations are left: the number of a page or a bit of it.
  private var other: (byte: Int, mask: UInt8)?

  /// The first frame that was corrected.
  private var repaired: Int?
  /// Where it was corrected, if it matches its checksum now.
  private var corrected: Range<Int>?
  private var isBigEndian = false
  private var salts: (UInt32, UInt32) = (0, 0)
  private let note: LogNote?

  /// How many frames it has space for.
  private var room: Int { max(0, bytes.count - Self.headerSize) / Self.frameSize }

  /// - Parameter note: How much of it is durable; nil if there is none.
  init(_ bytes: [UInt8], _ note: LogNote? = nil) {
    (self.bytes, self.note) = (bytes, note)
    guard room > 0 else { return }
    read(after: readHeader() ?? repairHeader() ?? guessHeader() ?? LogChecksum())
  }

  /// The log by the other explanation of its damage; nil if there is only one.
  var alternative: LogImage? {
    guard let other else { return nil }
    var corrected = bytes
    corrected[other.byte] ^= other.mask
    return LogImage(corrected, note)
  }

  // MARK: The header

  private mutating func readHeader() -> LogChecksum? {
    let magic = bytes.bigEndian32(0)
    guard magic & ~1 == 0x377F_0682, bytes.bigEndian32(4) == 3_007_000,
      bytes.bigEndian32(8) == UInt32(Self.pageSize)
    else { return nil }
    isBigEndian = magic & 1 == 1
    salts = (bytes.bigEndian32(16), bytes.bigEndian32(20))
    var sum = LogChecksum()
    sum.add(bytes, 0..<24, isBigEndian: isBigEndian)
    return sum == LogChecksum(storedIn: bytes, at: 24) ? sum : nil
  }

  /// Tries every bit.
  private mutating func repairHeader() -> LogChecksum? {
    isHeaderDamaged = true
    for bit in 0..<Self.headerSize * 8 {
      bytes[bit / 8] ^= 1 << UInt8(bit % 8)
      // Several bits may explain the checksum. Only the right one goes with the frames.
      if let sum = readHeader(), verifies(0, after: sum) { return sum }
      bytes[bit / 8] ^= 1 << UInt8(bit % 8)
    }
    return nil
  }

  /// The salts are in every frame, and the rest of the header is known but for a count of checkpoints, which begins
  /// at 0.
  private mutating func guessHeader() -> LogChecksum? {
    let kept = Array(bytes[0..<Self.headerSize])
    // Those of two frames in a row: one frame alone may be damaged as well.
    func salts(of index: Int) -> UInt64 {
      UInt64(bytes.bigEndian32(start(index) + 8)) << 32 | UInt64(bytes.bigEndian32(start(index) + 12))
    }
    let pair = (0..<room - 1).first { salts(of: $0) == salts(of: $0 + 1) && salts(of: $0) != 0 } ?? 0
    self.salts = (bytes.bigEndian32(start(pair) + 8), bytes.bigEndian32(start(pair) + 12))
    guard self.salts != (0, 0) else { return nil }
    for magic in [UInt32(0x377F_0682), 0x377F_0683] {
      isBigEndian = magic & 1 == 1
      bytes.setBigEndian32(magic, at: 0)
      bytes.setBigEndian32(3_007_000, at: 4)
      bytes.setBigEndian32(UInt32(Self.pageSize), at: 8)
      bytes.setBigEndian32(self.salts.0, at: 16)
      bytes.setBigEndian32(self.salts.1, at: 20)
      for count in UInt32(0)..<4_096 {
        bytes.setBigEndian32(count, at: 12)
        var sum = LogChecksum()
        sum.add(bytes, 0..<24, isBigEndian: isBigEndian)
        guard verifies(0, after: sum) else { continue }
        bytes.setBigEndian32(sum.first, at: 24)
        bytes.setBigEndian32(sum.second, at: 28)
        return sum
      }
    }
    bytes.replaceSubrange(0..<Self.headerSize, with: kept)
    return nil
  }

  // MARK: The frames

  private func start(_ index: Int) -> Int { Self.headerSize + index * Self.frameSize }

  private func isMember(_ index: Int) -> Bool {
    let offset = start(index)
    return bytes.bigEndian32(offset + 8) == salts.0 && bytes.bigEndian32(offset + 12) == salts.1
  }

  private func stored(_ index: Int) -> LogChecksum { LogChecksum(storedIn: bytes, at: start(index) + 16) }

  private func sum(_ index: Int, after seed: LogChecksum) -> LogChecksum {
    var sum = seed
    sum.addFrame(bytes, at: start(index), isBigEndian: isBigEndian)
    return sum
  }

  private func verifies(_ index: Int, after seed: LogChecksum) -> Bool {
    index < room && isMember(index) && sum(index, after: seed) == stored(index)
  }

  private func frame(_ index: Int) -> Frame {
    let offset = start(index)
    return Frame(
      offset: offset + 24, page: Int(bytes.bigEndian32(offset)), size: Int(bytes.bigEndian32(offset + 4)))
  }

  private mutating func read(after header: LogChecksum) {
    guard salts != (0, 0) else { return }
    var seed = header
    var index = 0
    var whole: [Frame] = []
    // Frames up to here count: a commit ends here.
    var committed = 0
    var broken: Int?
    var isProven = false
    while index < room {
      let isSound = verifies(index, after: seed)
      // The payload: this frame continues a commit that is behind a broken frame.
      if isSound, broken != nil, let last = whole.last, last.size > 0,
        last.offset == start(index) + 24 - Self.frameSize
      {
        isProven = true
      }
      if isSound || (broken == nil && repair(index, after: seed)) {
        whole.append(frame(index))
        seed = stored(index)
        if whole.last?.size ?? 0 > 0, broken == nil { committed = whole.count }
        index += 1
        continue
      }
      guard let next = resume(after: index) else { break }
      broken = broken ?? index
      for skipped in index..<next where isMember(skipped) {
        // If the frame before it is lost, nothing verifies this one. It counts if nothing speaks against it: where a
        // write was torn, its two numbers may lie in a sector of noise, and its checksum in the next one.
        if skipped == next - 1, skipped > index, isBelievable(skipped) {
          whole.append(frame(skipped))
        } else {
          doubtful.append(frame(skipped))
        }
      }
      if next > index, next - 1 >= index, frame(next - 1).size > 0, isMember(next - 1),
        isBelievable(next - 1)
      {
        // The stored checksum of the frame before is right, so its mark of a commit very likely is.
        isProven = true
      }
      seed = stored(next - 1)
      index = next
    }
    finish(whole, committed, broken: isProven && wasDurable(broken) ? broken : nil)
  }

  private func wasDurable(_ index: Int?) -> Bool {
    guard let index, let note else { return true }
    return note.salts == UInt64(salts.0) << 32 | UInt64(salts.1) && start(index) < note.end
  }

  /// The next frame that continues the stored checksum of the frame before it.
  private func resume(after index: Int) -> Int? {
    var next = index + 1
    while next < room {
      if isMember(next), verifies(next, after: stored(next - 1)) { return next }
      next += 1
    }
    return nil
  }

  /// - Parameter broken: the first frame that does not match its checksum, if commits behind it are known to be durable.
  private mutating func finish(_ whole: [Frame], _ committed: Int, broken: Int?) {
    if let broken {
      damage = "frame \(broken + 1) of the log does not match its checksum, and later commits follow"
      let last = whole.lastIndex { $0.size > 0 } ?? -1
      frames = Array(whole[...last])
      let end = frames.last?.offset ?? 0
      doubtful.removeAll { $0.offset > end }
    } else {
      frames = Array(whole[..<committed])
      doubtful = []
    }
    guard let repaired else { return }
    guard repaired < frames.count else {
      // Its commit is not complete. A torn write can look like that: one bit was set in what was not written any more.
      other = nil
      return
    }
    let lastCommit = (frames.dropLast().lastIndex { $0.size > 0 } ?? -1) + 1
    let isAtEnd = broken == nil && repaired >= lastCommit && whole.count == committed
    if isAtEnd, other == nil, !isHeaderDamaged, let corrected {
      correction = corrected
    } else {
      damage = "a bit of frame \(repaired + 1) of the log was flipped"
    }
  }

  /// True if the numbers of a frame are not far beyond those of the others, as noise is.
  private func isBelievable(_ index: Int) -> Bool {
    let others = (0..<room).filter { $0 != index && isMember($0) }.map { frame($0) }
    // One frame of noise among the others must not vouch for another one: the second largest number counts.
    let largest = others.map { max($0.size, $0.page) }.sorted().dropLast().last ?? 0
    return largest == 0 || (frame(index).page <= largest + 16 && frame(index).size <= largest + 16)
  }

  /// True if the numbers of a frame go with those of the others.
  private func makesSense(_ index: Int) -> Bool {
    let others = (0..<room).filter { $0 != index && isMember($0) }.map { frame($0) }
    let (page, isLast) = (frame(index).page, frame(index).size > 0)
    // SQLite writes the pages of a commit in the order of their numbers.
    if index > 0, isMember(index - 1), frame(index - 1).size == 0, frame(index - 1).page >= page {
      return false
    }
    if index + 1 < room, isMember(index + 1), !isLast, frame(index + 1).page <= page { return false }
    // A commit does not write a page behind the size that it gives the database.
    let end = (index..<room).first { isMember($0) && frame($0).size > 0 }
    if let end, page > frame(end).size { return false }
    let largest = others.reduce(0) { max($0, $1.size, $1.page) }
    return largest == 0 || (page <= largest + 16 && frame(index).size <= largest + 16)
  }

  /// The one bit whose correction makes a sound page; nil if there are more of them or none. Then the page stays as it is:
  /// a checksum shows which of its rows is damaged.
  private func onlySound(of bits: [(byte: Int, mask: UInt8)], _ index: Int) -> (byte: Int, mask: UInt8)? {
    let begin = start(index) + 24
    let sound = bits.filter { bit in
      var page = Array(bytes[begin..<start(index + 1)])
      // A bit of the header leaves the page as it is.
      if bit.byte >= begin { page[bit.byte - begin] ^= bit.mask }
      let read = PageReader(PageImage.Page(bytes: page, start: 0), number: frame(index).page)
      return read?.isConsistent == true
    }
    guard sound.count == 1, let bit = sound.first, bit.byte >= begin else { return nil }
    return bit
  }

  /// Corrects a frame of which one bit was flipped.
  private mutating func repair(_ index: Int, after seed: LogChecksum) -> Bool {
    let offset = start(index)
    var changed: Range<Int>?
    let computed = sum(index, after: seed)
    let stored = stored(index)
    let differing =
      (bytes.bigEndian32(offset + 8) ^ salts.0).nonzeroBitCount
      + (bytes.bigEndian32(offset + 12) ^ salts.1).nonzeroBitCount
    if differing == 1, computed == stored {
      bytes.setBigEndian32(salts.0, at: offset + 8)
      bytes.setBigEndian32(salts.1, at: offset + 12)
      changed = offset + 8..<offset + 16
    } else if differing == 0, computed.distance(to: stored) == 1, !verifies(index + 1, after: stored) {
      bytes.setBigEndian32(computed.first, at: offset + 16)
      bytes.setBigEndian32(computed.second, at: offset + 20)
      changed = offset + 16..<offset + 24
    } else if differing == 0 {
      let bits = computed.flippedBits(of: bytes, at: offset, stored: stored, isBigEndian: isBigEndian)
      guard !bits.isEmpty else { return false }
      // Of several bits, one of the header is meant if the header makes no sense.
      let header = bits.first { $0.byte < offset + 8 }
      if bits.count > 1, let header, makesSense(index) { other = header }
      let isHeader = header != nil && !makesSense(index)
      let bit = if bits.count == 1 { bits[0] } else if isHeader { header } else { onlySound(of: bits, index) }
      if let bit {
        bytes[bit.byte] ^= bit.mask
        changed = bit.byte..<bit.byte + 1
      }
    } else {
      return false
    }
    if repaired == nil {
      repaired = index
      corrected = verifies(index, after: seed) ? changed : nil
    }
    return true
  }
}
