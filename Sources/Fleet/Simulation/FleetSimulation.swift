package import PurchaseQueue

/// A fleet with one policy, second by second. One pending purchase per device, as after an outage; new purchases follow
/// when the fault is over. The same scenario gives the same run.
package struct FleetSimulation<Policy: FleetPolicy> {
  /// What is kept about a device.
  struct Device {
    var state: Policy.State
    var marks: Marks = []
    /// The planned attempt, in milliseconds; `never` where there is none.
    var at: UInt32
    /// When its oldest new purchase was made, in seconds; `never` where none is pending.
    var newSince: UInt32 = .max
  }

  struct Marks: OptionSet {
    let rawValue: UInt8
    /// It has made its purchase of the fault.
    static var bought: Marks { Marks(rawValue: 1) }
    /// That purchase is delivered, or forgotten.
    static var settled: Marks { Marks(rawValue: 2) }
    /// The backend has everything of this device, and the device does not know it.
    static var credited: Marks { Marks(rawValue: 4) }
    /// Its request is one of this second's.
    static var sending: Marks { Marks(rawValue: 8) }
  }

  static var never: UInt32 { .max }

  let policy: Policy
  let scenario: FleetScenario
  let backend: FleetBackend
  var random: RandomSource
  var devices: [Device]
  var calendar: FleetCalendar
  /// The devices of the running second; first all whose plan has come, then those that send.
  var senders: [UInt32] = []
  var tally: FleetTally
  /// The devices whose users tap, by second.
  private var taps: FleetCalendar
  private var tapping: [UInt32] = []
  private var openings = 0.0
  private var purchases = 0.0

  package init(_ policy: Policy, _ scenario: FleetScenario) {
    (self.policy, self.scenario) = (policy, scenario)
    backend = FleetBackend(scenario)
    random = RandomSource(seed: scenario.seed)
    calendar = FleetCalendar(seconds: scenario.horizon, devices: scenario.devices)
    taps = FleetCalendar(seconds: scenario.taps > 0 ? scenario.horizon : 0, devices: 0)
    tally = FleetTally(scenario)
    let fresh = policy.fresh
    devices = []
    devices.reserveCapacity(scenario.devices)
    for device in 0..<scenario.devices {
      let at = UInt32(scenario.purchase(of: device))
      devices.append(Device(state: fresh, at: at))
      calendar.add(UInt32(device), second: Int(at) / 1_000)
    }
  }

  /// Runs to the horizon, or until `goesOn` says no; it is asked once per simulated minute.
  package mutating func run(_ goesOn: (_ second: Int) -> Bool = { _ in true }) -> FleetTally {
    for second in 0..<scenario.horizon {
      if second.isMultiple(of: FleetCurves.step), !goesOn(second) {
        tally.wasInterrupted = true
        break
      }
      step(second)
    }
    tally.stateBytes =
      devices.count * MemoryLayout<Device>.stride + calendar.bytes
      + senders.capacity * MemoryLayout<UInt32>.stride
    tally.pending = devices.reduce(0) { sum, device in
      sum + (device.newSince != Self.never ? 1 : 0)
        + (device.marks.contains(.bought) && !device.marks.contains(.settled) ? 1 : 0)
    }
    return tally
  }

  private mutating func step(_ second: Int) {
    openApps(second)
    tap(second)
    buy(second)
    senders.removeAll(keepingCapacity: true)
    calendar.take(second: second, into: &senders)
    var sending = 0
    for position in senders.indices {
      let id = senders[position]
      guard prepare(id, second) else { continue }
      senders[sending] = id
      sending += 1
    }
    senders.removeSubrange(sending...)
    let capacity = backend.capacity(at: second)
    let goodput = FleetBackend.goodput(offered: Double(senders.count), capacity: capacity)
    tally.offered(senders.count, second: second, capacity: capacity)
    // A part of a request is served in as many of the seconds.
    let part = goodput - goodput.rounded(.down)
    let isMore = part > 0 && random.unit() < part
    serve(min(senders.count, Int(goodput) + (isMore ? 1 : 0)), second)
    tally.endOf(second)
  }

  /// The plan of a device has come: it buys, and sends or is refused by its own rule. Returns whether it sends.
  private mutating func prepare(_ id: UInt32, _ second: Int) -> Bool {
    let index = Int(id)
    let at = devices[index].at
    // A replaced plan stays in its bucket, which may be the bucket of the new one.
    guard at != Self.never, Int(at) / 1_000 == second, !devices[index].marks.contains(.sending) else {
      return false
    }
    let now = Int64(at)
    devices[index].at = Self.never
    if !devices[index].marks.contains(.bought) {
      devices[index].marks.insert(.bought)
      tally.purchases += 1
      let sends = policy.purchased(&devices[index].state, now: now, using: &random)
      guard sends / 1_000 <= Int64(second) else {
        plan(id, .at(sends), after: second)
        return false
      }
    }
    if let instead = policy.admit(&devices[index].state, now: now, using: &random) {
      plan(id, instead, after: second)
      return false
    }
    devices[index].marks.insert(.sending)
    // The moment of the request, which the answer needs.
    devices[index].at = at
    return true
  }

  /// So many of the senders are served, chosen at random (selection sampling, Knuth, TAOCP 2, 3.4.2, algorithm S).
  private mutating func serve(_ served: Int, _ second: Int) {
    var wanted = served
    var left = senders.count
    let failure = backend.failure(at: second)
    let isHeard = backend.answers(at: second)
    for position in senders.indices {
      let id = senders[position]
      let index = Int(id)
      let isServed = wanted > 0 && (wanted == left || random.below(left) < wanted)
      left -= 1
      if isServed { wanted -= 1 }
      let now = Int64(devices[index].at)
      devices[index].at = Self.never
      devices[index].marks.remove(.sending)
      if isServed, isHeard {
        if devices[index].marks.contains(.credited) { tally.wasted += 1 }
        settle(index, second, withOldest: policy.carriesOldest(devices[index].state, now: now))
        if let left = policy.succeeded(&devices[index].state, now: now) { plan(id, .at(left), after: second) }
      } else {
        if isServed, !devices[index].marks.contains(.credited) {
          devices[index].marks.insert(.credited)
        } else {
          tally.wasted += 1
        }
        let next = policy.failed(
          &devices[index].state, isServed ? .silence : failure, now: now, using: &random)
        plan(id, next, after: second)
      }
    }
  }

  private mutating func settle(_ index: Int, _ second: Int, withOldest: Bool) {
    devices[index].marks.remove(.credited)
    let isOldPending = !devices[index].marks.contains(.settled) && devices[index].marks.contains(.bought)
    if isOldPending, withOldest {
      devices[index].marks.insert(.settled)
      tally.deliveredBacklog += 1
    }
    guard isOldPending || withOldest else { return }
    if devices[index].newSince != Self.never {
      tally.deliveredNew(since: Int(devices[index].newSince), second: second)
      devices[index].newSince = Self.never
    }
  }

  private mutating func plan(_ id: UInt32, _ next: FleetNext, after second: Int) {
    let index = Int(id)
    switch next {
    case .waits: devices[index].at = Self.never
    case .drops:
      devices[index].at = Self.never
      if !devices[index].marks.contains(.settled) {
        devices[index].marks.insert(.settled)
        tally.dropped += 1
      }
      if devices[index].newSince != Self.never {
        devices[index].newSince = Self.never
        tally.dropped += 1
      }
    case .at(let moment):
      // One attempt of a device in a second.
      let at = max(moment, Int64(second + 1) * 1_000)
      guard at < Int64(Self.never) else { return devices[index].at = Self.never }
      devices[index].at = UInt32(at)
      calendar.add(id, second: Int(at / 1_000))
    }
  }

  // MARK: People

  /// Replaces the plan, if the new one is earlier.
  private mutating func bring(_ id: UInt32, to moment: Int64, second: Int) {
    let index = Int(id)
    let at = max(moment, Int64(second) * 1_000)
    guard at < Int64(devices[index].at) else { return }
    devices[index].at = UInt32(at)
    calendar.add(id, second: Int(at / 1_000))
  }

  private mutating func openApps(_ second: Int) {
    openings += FleetForeground.openings(scenario, second: second)
    while openings >= 1 {
      openings -= 1
      open(UInt32(random.below(devices.count)), second)
    }
    for id in FleetForeground.pushed(scenario, second: second) { open(UInt32(id), second) }
  }

  private mutating func open(_ id: UInt32, _ second: Int) {
    guard isPending(id) else { return }
    wake(id, second, policy.opened)
    for number in 0..<scenario.taps {
      taps.add(id, second: second + (number + 1) * FleetForeground.tapInterval)
    }
  }

  private mutating func tap(_ second: Int) {
    guard scenario.taps > 0 else { return }
    tapping.removeAll(keepingCapacity: true)
    taps.take(second: second, into: &tapping)
    for id in tapping where isPending(id) { wake(id, second, policy.tapped) }
  }

  private func isPending(_ id: UInt32) -> Bool {
    let device = devices[Int(id)]
    return device.newSince != Self.never || device.marks.contains(.bought) && !device.marks.contains(.settled)
  }

  private mutating func wake(
    _ id: UInt32, _ second: Int, _ rule: (inout Policy.State, Int64?, Int64, inout RandomSource) -> Int64?
  ) {
    let due = devices[Int(id)].at == Self.never ? nil : Int64(devices[Int(id)].at)
    let now = Int64(second) * 1_000 + Int64(random.below(1_000))
    if let moment = rule(&devices[Int(id)].state, due, now, &random) { bring(id, to: moment, second: second) }
  }

  private mutating func buy(_ second: Int) {
    guard second >= scenario.outage else { return }
    purchases += Double(scenario.devices) * scenario.purchasesPerDay / 86_400
    while purchases >= 1 {
      purchases -= 1
      let id = UInt32(random.below(devices.count))
      let index = Int(id)
      // Its earlier purchase is sent with the one that is pending: people who wait do not buy again.
      guard devices[index].newSince == Self.never else { continue }
      devices[index].newSince = UInt32(second)
      devices[index].marks.remove(.credited)
      tally.madeNew(second: second)
      let now = Int64(second) * 1_000 + Int64(random.below(1_000))
      bring(id, to: policy.purchased(&devices[index].state, now: now, using: &random), second: second)
    }
  }
}

extension RandomSource {
  /// A number from 0 up to `bound`, which is at least 1 and excluded.
  package mutating func below(_ bound: Int) -> Int {
    Int(truncatingIfNeeded: next().multipliedFullWidth(by: UInt64(bound)).high)
  }

  /// From 0 up to 1, excluded.
  package mutating func unit() -> Double { Double(next() >> 11) * 0x1p-53 }
}
