import PurchaseQueue

extension ModelTests {
  /// One call, for the queue and for the model.
  enum Operation {
    case enqueue(NewEntry)
    case acknowledge([String], outcome: String, isUnconfirmed: Bool)
    case attempt(String)
    case postpone(String, until: Int64)
    case quarantine(String)
    case release(String)
    case discard(String)
    case reserve(String, bytes: Int, until: Int64)
    case cancel(String)
    case see(String)

    static func random(now: Int64, using random: inout Random) -> Operation {
      let key = "k\(random.below(14))"
      switch random.below(20) {
      case 0..<8: return .enqueue(newEntry(key, using: &random))
      case 8, 9:
        let keys = (0...random.below(3)).map { _ in "k\(random.below(14))" }
        return .acknowledge(keys, outcome: "granted", isUnconfirmed: random.below(4) == 0)
      case 10: return .attempt(key)
      case 11, 12: return .postpone(key, until: now + Int64(random.below(100)))
      case 13, 14: return .quarantine(key)
      case 15: return .release(key)
      case 16: return .discard(key)
      case 17:
        return .reserve(
          "r\(random.below(3))", bytes: random.below(600), until: now + Int64(random.below(300)))
      case 18: return .cancel("r\(random.below(3))")
      default: return .see(key)
      }
    }

    private static func newEntry(_ key: String, using random: inout Random) -> NewEntry {
      var payloads: [Payload] = []
      for kind in ["receipt", "signed"] where random.below(3) > 0 {
        // Few different contents, so that entries share payloads; one size is over the limit.
        let size = random.pick([0, 40, 150, 390, 401])
        payloads.append(Payload(kind: kind, bytes: Array(repeating: UInt8(random.below(4)), count: size)))
      }
      return NewEntry(
        key: EntryKey(rawValue: key), lane: random.pick(ModelTests.lanes),
        orderNumber: random.below(2) == 0 ? nil : "o\(random.below(9))", details: "d", payloads: payloads,
        covers: (0..<random.below(4)).map { _ in EntryKey(rawValue: "k\(random.below(14))") },
        reservation: random.below(3) == 0 ? "r\(random.below(3))" : nil)
    }

    func run(on queue: QueueFile, now: Int64) -> QueueError? {
      do throws(QueueError) {
        try perform(on: queue, now: now)
        return nil
      } catch {
        return error
      }
    }

    func call(now: Int64) -> QueueFile.Operation {
      { (queue) throws(QueueError) in try perform(on: queue, now: now) }
    }

    func perform(on queue: QueueFile, now: Int64) throws(QueueError) {
      let moment = Timestamp(milliseconds: now)
      switch self {
      case .enqueue(let new): _ = try queue.enqueue(new, now: moment)
      case .acknowledge(let keys, let outcome, let isUnconfirmed):
        let settlements = keys.map {
          Settlement(key: EntryKey(rawValue: $0), outcome: outcome, isUnconfirmed: isUnconfirmed)
        }
        try queue.acknowledge(settlements, now: moment)
      case .attempt(let key): try queue.recordAttempt([EntryKey(rawValue: key)], now: moment)
      case .postpone(let key, let until):
        try queue.postpone(
          EntryKey(rawValue: key), until: Timestamp(milliseconds: until), reason: "model", now: moment)
      case .quarantine(let key):
        try queue.quarantine(EntryKey(rawValue: key), reason: "model", now: moment)
      case .release(let key): try queue.release(EntryKey(rawValue: key), now: moment)
      case .discard(let key):
        try queue.discard(EntryKey(rawValue: key), by: "model", reason: "asked", now: moment)
      case .reserve(let name, let bytes, let until):
        try queue.reserve(name, bytes: bytes, until: Timestamp(milliseconds: until), now: moment)
      case .cancel(let name): try queue.cancelReservation(name)
      case .see(let key):
        if try queue.tombstone(EntryKey(rawValue: key)) != nil {
          try queue.markConfirmed(EntryKey(rawValue: key))
        }
      }
    }

    func run(on model: inout QueueModel, now: Int64) -> QueueError? {
      do throws(QueueError) {
        switch self {
        case .enqueue(let new): try model.enqueue(new, now: now)
        case .acknowledge(let keys, let outcome, let isUnconfirmed):
          model.acknowledge(keys, outcome: outcome, isUnconfirmed: isUnconfirmed)
        case .attempt(let key): try model.change(key) { $0.attempts += 1 }
        case .postpone(let key, let until): try model.change(key) { $0.readyAt = until }
        case .quarantine(let key): try model.setQuarantined(key, true, now: now)
        case .release(let key): try model.setQuarantined(key, false, now: now)
        case .discard(let key): model.acknowledge([key], outcome: "discarded", isUnconfirmed: false)
        case .reserve(let name, let bytes, let until):
          try model.reserve(name, bytes: bytes, until: until, now: now)
        case .cancel(let name): model.reservations[name] = nil
        case .see(let key): model.unconfirmed.remove(key)
        }
        return nil
      } catch {
        return error
      }
    }
  }
}
