import PurchaseQueue
import PurchaseSync

/// The states that devices, store and backend are in, by number, and what follows from each event. An event of a state is
/// given to the production machine once; then its result is remembered.
final class SmallSteps {
  /// What a search asks about a device's state.
  struct DeviceFacts {
    var isAlive = false
    var hasTimer = false
    var isListing = false
    var arriving = 0
    var finishing = 0
    var telling = 0
    /// Transactions in the queue on its disk, as bits.
    var queued = 0
    /// Whether it has nothing left to do for a purchase.
    var isDone = true
  }

  struct Result {
    var device: Int32
    /// The numbers of the requests that went out; -1 for none.
    var sent: (Int16, Int16) = (-1, -1)
    /// Ends with a crash, in `crashEnds`.
    var crashes: Range<Int> = 0..<0
    /// In `faults`; -1 for none.
    var fault: Int32 = -1
  }

  struct OutsideFacts {
    var sales = 0
    var listed = 0
    var credited = 0
    var fault: Int32 = -1
  }

  let mail = SmallMail()
  private let driver: SmallDriver
  /// Whether each state that was held equal to an earlier one is compared with it at each event.
  private let comparesEquals: Bool
  private(set) var devices: [SmallDevice] = []
  private(set) var deviceFacts: [DeviceFacts] = []
  private var deviceNumbers: [String: Int] = [:]
  private(set) var results: [Result] = []
  private(set) var crashEnds: [Result] = []
  private var known: [Int32] = []
  private(set) var outsides: [StoreAndBackend] = []
  private(set) var outsideFacts: [OutsideFacts] = []
  private var outsideNumbers: [String: Int] = [:]
  private var outsideSteps: [Int: (outside: Int, answer: Int)] = [:]
  private(set) var faults: [SmallFault] = []
  /// Devices that were held equal to a known one, with its number.
  private var equals: [(device: SmallDevice, number: Int)] = []

  init(
    _ world: SmallWorld, bug: ExhaustiveBug?, seed: UInt64, comparesEquals: Bool = false,
    _ make: @escaping BranchingStorageMaker
  )
    throws(OutsideTheSmallWorld)
  {
    driver = SmallDriver(world, bug: bug, seed: seed, mail, make)
    self.comparesEquals = comparesEquals
    _ = try number(of: driver.newDevice)
    _ = try number(of: StoreAndBackend(world, bug: bug))
  }

  /// How often a machine was called.
  var calls: Int { driver.calls }

  // MARK: Devices

  private func number(of device: SmallDevice, disk: String? = nil) throws(OutsideTheSmallWorld) -> Int {
    let text = device.text(disk: disk)
    if let known = deviceNumbers[text] {
      if comparesEquals { equals.append((device, known)) }
      return known
    }
    let number = devices.count
    guard number < SmallState.mostDevices else { throw OutsideTheSmallWorld(description: "too many devices") }
    deviceNumbers[text] = number
    devices.append(device)
    deviceFacts.append(Self.facts(of: device))
    known.append(contentsOf: repeatElement(-1, count: SmallEvent.count))
    return number
  }

  private static func facts(of device: SmallDevice) -> DeviceFacts {
    var facts = DeviceFacts(
      isAlive: device.isAlive, hasTimer: device.timerAt != nil, isListing: device.isListing,
      arriving: device.arriving, finishing: device.finishing, telling: device.telling)
    for entry in device.disk.allEntries { facts.queued |= 1 << Names.transaction(entry.key) }
    facts.isDone =
      facts.queued == 0 && device.finishing == 0
      && !device.disk.allTombstones.contains(where: \.isUnconfirmed)
    return facts
  }

  /// What follows from an event on a device.
  func result(of event: Int, on device: Int) throws(OutsideTheSmallWorld) -> Result {
    let place = device * SmallEvent.count + event
    if known[place] >= 0 { return results[Int(known[place])] }
    let result = try take(SmallEvent(number: event), devices[device])
    known[place] = Int32(results.count)
    results.append(result)
    return result
  }

  private func take(_ event: SmallEvent, _ device: SmallDevice) throws(OutsideTheSmallWorld) -> Result {
    let taken = try driver.take(event, device)
    var result = try remember(taken.end)
    if let fault = taken.fault { result.fault = number(of: fault) }
    var ends: [Result] = []
    for end in taken.crashes {
      var crash = try remember(end)
      if let fault = end.fault { crash.fault = number(of: fault) }
      if !ends.contains(where: { $0.device == crash.device && $0.sent == crash.sent }) { ends.append(crash) }
    }
    result.crashes = crashEnds.count..<crashEnds.count + ends.count
    crashEnds += ends
    return result
  }

  private func remember(_ end: SmallEnd) throws(OutsideTheSmallWorld) -> Result {
    var result = Result(device: Int32(try number(of: end.device, disk: end.diskText)))
    guard end.sent.count <= 2 else { throw OutsideTheSmallWorld(description: "three requests in one event") }
    let numbers = end.sent.map { Int16(mail.number(of: $0)) }
    guard mail.requests.count <= SmallLetter.mostRequests else {
      throw OutsideTheSmallWorld(description: "too many requests")
    }
    result.sent = (numbers.first ?? -1, numbers.count > 1 ? numbers[1] : -1)
    return result
  }

  private func number(of fault: SmallFault) -> Int32 {
    if let known = faults.firstIndex(of: fault) { return Int32(known) }
    faults.append(fault)
    return Int32(faults.count - 1)
  }

  /// Gives each event that a device got to each device that was held equal to it. Returns the first one with another
  /// result, in words; nil if there is none.
  func difference() throws(OutsideTheSmallWorld) -> String? {
    for (device, number) in equals {
      for event in 0..<SmallEvent.count where known[number * SmallEvent.count + event] >= 0 {
        let expected = results[Int(known[number * SmallEvent.count + event])]
        let found = try take(SmallEvent(number: event), device)
        let isSame =
          found.device == expected.device && found.sent == expected.sent
          && crashEnds[found.crashes].elementsEqual(crashEnds[expected.crashes]) {
            $0.device == $1.device && $0.sent == $1.sent
          }
        if !isSame { return "\(SmallEvent(number: event)) on \(device.text())" }
      }
    }
    return nil
  }

  // MARK: Store and backend

  private func number(of outside: StoreAndBackend) throws(OutsideTheSmallWorld) -> Int {
    let text = outside.text
    if let known = outsideNumbers[text] { return known }
    let number = outsides.count
    guard number < SmallState.mostOutsides else {
      throw OutsideTheSmallWorld(description: "too many ledgers")
    }
    outsideNumbers[text] = number
    outsides.append(outside)
    outsideFacts.append(
      OutsideFacts(
        sales: outside.sales, listed: outside.listed, credited: outside.credited,
        fault: outside.fault.map { self.number(of: $0) } ?? -1))
    return number
  }

  private func step(
    _ code: Int, from outside: Int, _ body: (inout StoreAndBackend) throws(OutsideTheSmallWorld) -> Int
  ) throws(OutsideTheSmallWorld) -> (outside: Int, answer: Int) {
    if let known = outsideSteps[outside << 16 | code] { return known }
    var next = outsides[outside]
    let answer = try body(&next)
    let result = (try number(of: next), answer)
    outsideSteps[outside << 16 | code] = result
    return result
  }

  /// The backend answers a request.
  func answer(_ request: Int, from device: Int, in outside: Int) throws(OutsideTheSmallWorld) -> (
    outside: Int, answer: Int
  ) {
    try step(16 + 2 * request + device, from: outside) { (next) throws(OutsideTheSmallWorld) in
      let answer = mail.number(of: next.answer(mail.requests[request], from: device))
      guard mail.answers.count <= SmallLetter.mostAnswers else {
        throw OutsideTheSmallWorld(description: "too many answers")
      }
      return answer
    }
  }

  func buy(account: Int, on device: Int, in outside: Int) throws(OutsideTheSmallWorld) -> Int {
    try step(2 * account + device, from: outside) { next in
      next.buy(account: account, device: device)
      return 0
    }.outside
  }

  func assignSeat(in outside: Int) throws(OutsideTheSmallWorld) -> Int {
    try step(6, from: outside) { next in
      next.assignSeat()
      return 0
    }.outside
  }

  /// The store ends the delivery of a transaction that it lists.
  func finish(_ sale: Int, in outside: Int) throws(OutsideTheSmallWorld) -> Int {
    try step(4 + sale, from: outside) { next in next.finish(sale) ? 1 : 0 }.outside
  }
}
