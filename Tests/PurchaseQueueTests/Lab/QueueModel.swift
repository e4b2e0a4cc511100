import PurchaseQueue

/// The queue in its simplest form: arrays, no file, and counting at every call.
struct QueueModel {
  struct Item: Equatable {
    var key: String
    var lane: Lane
    var order: String?
    var attempts = 0
    var readyAt: Int64 = 0
    var isQuarantined = false
    /// By kind; an empty optional is a payload by reference.
    var payloads: [String: [UInt8]?]
  }

  var limits: QueueLimits
  var items: [Item] = []
  var settled: [String: String] = [:]
  var unconfirmed: Set<String> = []
  var reservations: [String: (bytes: Int, until: Int64)] = [:]

  var bytes: Int { Set(items.flatMap { $0.payloads.values.compactMap { $0 } }).reduce(0) { $0 + $1.count } }
  var queued: Int { items.count { !$0.isQuarantined } }
  private var quarantinedBytes: Int {
    items.filter(\.isQuarantined).flatMap { $0.payloads.values.compactMap { $0 } }.reduce(0) { $0 + $1.count }
  }

  // MARK: Operations; each is tried on a copy, so that an error leaves everything as it was

  mutating func enqueue(_ new: NewEntry, now: Int64) throws(QueueError) {
    if settled[new.key.rawValue] != nil {
      if let name = new.reservation { reservations[name] = nil }
      return
    }
    var next = self
    if let name = new.reservation { next.reservations[name] = nil }
    if let index = next.items.firstIndex(where: { $0.key == new.key.rawValue }) {
      next.items[index].order = next.items[index].order ?? new.orderNumber
      for payload in new.payloads { try next.give(payload, to: index, new.covers, now: now) }
    } else {
      next.items.append(Item(key: new.key.rawValue, lane: new.lane, order: new.orderNumber, payloads: [:]))
      try next.ensureCapacityForEntry(now: now)
      for payload in new.payloads { try next.give(payload, to: next.items.count - 1, new.covers, now: now) }
    }
    self = next
  }

  private mutating func give(
    _ payload: Payload, to index: Int, _ covers: [EntryKey], now: Int64
  ) throws(QueueError) {
    let old = items[index].payloads[payload.kind]
    if old == .some(payload.bytes) { return }
    if payload.bytes.count > limits.payloadBytes {
      items[index].payloads[payload.kind] = .some(nil)
      return
    }
    let isNew = !items.contains { $0.payloads.values.contains(payload.bytes) }
    items[index].payloads[payload.kind] = payload.bytes
    let others = covers.map(\.rawValue).filter { $0 != items[index].key }
    if isNew { try ensureCapacityForBytes(payload, others, now: now) }
  }

  mutating func reserve(_ name: String, bytes: Int, until: Int64, now: Int64) throws(QueueError) {
    var next = self
    next.reservations[name] = nil
    // The new reservation is not among those that can have expired.
    try next.ensureCapacityForEntry(extra: 1, now: now)
    try next.ensureCapacityForBytes(extra: bytes, now: now)
    next.reservations[name] = (bytes, until)
    self = next
  }

  mutating func acknowledge(_ keys: [String], outcome: String, isUnconfirmed: Bool) {
    for key in keys {
      guard let index = items.firstIndex(where: { $0.key == key }) else { continue }
      items.remove(at: index)
      settled[key] = outcome
      if isUnconfirmed { unconfirmed.insert(key) }
    }
  }

  mutating func setQuarantined(_ key: String, _ isQuarantined: Bool, now: Int64) throws(QueueError) {
    guard let index = items.firstIndex(where: { $0.key == key }) else {
      throw .unknownEntry(EntryKey(rawValue: key))
    }
    guard items[index].isQuarantined != isQuarantined else { return }
    var next = self
    next.items[index].isQuarantined = isQuarantined
    if isQuarantined {
      let count = next.items.count(where: \.isQuarantined)
      guard count <= limits.quarantinedEntries else {
        throw .queueFull(.quarantinedEntries, needed: count, allowed: limits.quarantinedEntries)
      }
      guard next.quarantinedBytes <= limits.quarantinedBytes else {
        throw .queueFull(
          .quarantinedBytes, needed: next.quarantinedBytes, allowed: limits.quarantinedBytes)
      }
    } else {
      next.items[index].readyAt = 0
      try next.ensureCapacityForEntry(now: now)
    }
    self = next
  }

  mutating func change(_ key: String, _ change: (inout Item) -> Void) throws(QueueError) {
    guard let index = items.firstIndex(where: { $0.key == key }) else {
      throw .unknownEntry(EntryKey(rawValue: key))
    }
    change(&items[index])
  }

  func head(of lane: Lane) -> String? { items.first { $0.lane == lane && !$0.isQuarantined }?.key }

  func nextReady(now: Int64) -> String? {
    let turns = items.enumerated().filter { !$0.element.isQuarantined }
    let ready = turns.first { $0.element.readyAt == 0 }
    let postponed = turns.filter { $0.element.readyAt > 0 }
      .min { ($0.element.readyAt, $0.offset) < ($1.element.readyAt, $1.offset) }
    let due = postponed.flatMap { $0.element.readyAt <= now ? $0 : nil }
    return (ready ?? due)?.element.key
  }

  // MARK: Capacity

  private mutating func ensureCapacityForEntry(extra: Int = 0, now: Int64) throws(QueueError) {
    func taken() -> Int { queued + reservations.count + extra }
    if taken() > limits.entries { dropExpired(now: now) }
    guard taken() <= limits.entries else {
      throw .queueFull(.entries, needed: taken(), allowed: limits.entries)
    }
  }

  private mutating func ensureCapacityForBytes(
    _ payload: Payload? = nil, _ covers: [String] = [], extra: Int = 0, now: Int64
  ) throws(QueueError) {
    func taken() -> Int { bytes + reservations.values.reduce(0) { $0 + $1.bytes } + extra }
    if taken() > limits.totalBytes { dropExpired(now: now) }
    for key in covers where taken() > limits.totalBytes {
      guard let payload, let index = items.firstIndex(where: { $0.key == key }) else { continue }
      if items[index].payloads[payload.kind] != nil { items[index].payloads[payload.kind] = payload.bytes }
    }
    guard taken() <= limits.totalBytes else {
      throw .queueFull(.totalBytes, needed: taken(), allowed: limits.totalBytes)
    }
  }

  private mutating func dropExpired(now: Int64) {
    reservations = reservations.filter { $0.value.until > now }
  }
}
