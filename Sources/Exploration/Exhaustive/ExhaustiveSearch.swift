/// One step of the small world.
struct SmallMove: Hashable {
  enum Kind: UInt8 {
    /// An event of a device.
    case device
    /// The backend gets the letter at a place.
    case arrives
    /// A seat is assigned, on no device.
    case assigns
  }

  var kind: Kind
  var device: UInt8 = 0
  /// The number of the event.
  var event: UInt8 = 0
  /// The place of the letter.
  var letter: UInt8 = 0
  /// Ends with a crash: which one, from 1; 0 for none.
  var crash: UInt8 = 0
  /// Whether the devices change their names after it.
  var mirrors = false
  /// Whether it happens sooner or later if nothing prevents it: no person and no fault is needed.
  var isProgress = false
}

/// A state that follows from another one.
struct SmallSuccessor {
  var state: SmallState
  var move: SmallMove
  /// The invariant that the move breaks, in `SmallSteps.faults`; -1 for none.
  var fault: Int32
}

/// All that can happen next in a state of the small world.
struct SmallSuccessors {
  let world: SmallWorld
  let steps: SmallSteps
  private(set) var all: [SmallSuccessor] = []

  init(_ world: SmallWorld, _ steps: SmallSteps) {
    (self.world, self.steps) = (world, steps)
    all.reserveCapacity(64)
  }

  var first: SmallState {
    var state = SmallState()
    if world.crashes > 0 { state.give(.crash) }
    if world.lostReplies > 0 { state.give(.lostReply) }
    if world.reinstalls > 0 { state.give(.reinstall) }
    return state
  }

  mutating func find(from state: SmallState) throws(OutsideTheSmallWorld) {
    all.removeAll(keepingCapacity: true)
    for device in 0..<world.devices { try addEvents(of: device, state) }
    if steps.outsideFacts[state.outside].sales == world.seat { try addSeat(state) }
    for place in 0..<SmallState.mostLetters {
      guard let letter = state.letter(place) else { break }
      if letter.answer < 0 { try addArrival(of: letter, at: place, state) }
      guard letter.isAwaited else { continue }
      try addAnswer(letter, at: place, state)
    }
  }

  // MARK: Devices

  private mutating func addEvents(of device: Int, _ state: SmallState) throws(OutsideTheSmallWorld) {
    let facts = steps.deviceFacts[state.device(device)]
    if state.has(.reinstall) { try add(.reinstall, device, state) { $0.use(.reinstall) } }
    guard facts.isAlive else { return try add(.launch, device, state) }
    let outside = steps.outsideFacts[state.outside]
    if facts.hasTimer { try add(.timer, device, state) }
    if facts.isListing { try add(.listed(outside.listed), device, state) }
    for sale in 0..<outside.sales {
      if facts.arriving & outside.listed & 1 << sale != 0 { try add(.arrives(sale), device, state) }
      if facts.telling & 1 << sale != 0 { try add(.confirms(sale), device, state) }
      guard facts.finishing & 1 << sale != 0 else { continue }
      let isThere = outside.listed & 1 << sale != 0
      let next = try steps.finish(sale, in: state.outside)
      try add(.finished(sale, isThere: isThere), device, state) { $0.outside = next }
    }
    if state.has(.crash) { try add(.crash, device, state) { $0.use(.crash) } }
    if world.leavesOrders, outside.sales < world.purchases, state.has(.crash) {
      for account in 0..<world.accounts {
        try add(.leaves(account: account), device, state) { $0.use(.crash) }
      }
    }
    guard outside.sales < world.purchases, outside.sales != world.seat else { return }
    try addPurchases(on: device, state, outside.sales)
  }

  private mutating func addSeat(_ state: SmallState) throws(OutsideTheSmallWorld) {
    guard let sale = world.seat, sale < world.purchases else { return }
    var next = state
    next.outside = try steps.assignSeat(in: state.outside)
    try hand(over: sale, &next)
    all.append(SmallSuccessor(state: next, move: SmallMove(kind: .assigns), fault: -1))
  }

  /// The store hands it over to each app that runs.
  private func hand(over sale: Int, _ state: inout SmallState) throws(OutsideTheSmallWorld) {
    for device in 0..<world.devices where steps.deviceFacts[state.device(device)].isAlive {
      let result = try steps.result(of: SmallEvent.charged(sale).number, on: state.device(device))
      state.set(device: device, Int(result.device))
    }
  }

  /// The first purchase is called the first account's, on the first device: before it nothing distinguishes them.
  private mutating func addPurchases(
    on device: Int, _ state: SmallState, _ sale: Int
  ) throws(OutsideTheSmallWorld) {
    for account in 0..<(sale == 0 ? 1 : world.accounts) {
      let (buyer, from) = sale == 0 && device == 1 ? (0, state.mirrored) : (device, state)
      let result = try steps.result(
        of: SmallEvent.buys(account: account, sale: sale).number, on: from.device(buyer))
      var next = from
      next.set(device: buyer, Int(result.device))
      next.outside = try steps.buy(account: account, on: buyer, in: from.outside)
      for sold in sale..<(world.isBundle ? world.purchases : sale + 1) { try hand(over: sold, &next) }
      let move = SmallMove(
        kind: .device, device: UInt8(device),
        event: UInt8(SmallEvent.buys(account: account, sale: sale).number),
        mirrors: buyer != device)
      all.append(SmallSuccessor(state: next, move: move, fault: result.fault))
    }
  }

  /// Adds an event of a device, and each crash in it.
  private mutating func add(
    _ event: SmallEvent, _ device: Int, _ state: SmallState, at place: Int = 0,
    _ change: (inout SmallState) -> Void = { _ in }
  ) throws(OutsideTheSmallWorld) {
    let result = try steps.result(of: event.number, on: state.device(device))
    var move = SmallMove(
      kind: .device, device: UInt8(device), event: UInt8(event.number), letter: UInt8(place))
    var next = state
    change(&next)
    switch event {
    case .crash, .reinstall, .leaves: next.orphan(device)
    case .noReply: break
    default: move.isProgress = true
    }
    let crashed = state.has(.crash) && !result.crashes.isEmpty ? next : nil
    next.set(device: device, Int(result.device))
    try post(result.sent, from: device, isAwaited: true, &next)
    try append(next, move, result.fault)
    guard var crashed else { return }
    crashed.use(.crash)
    crashed.orphan(device)
    move.isProgress = false
    for (index, number) in result.crashes.enumerated() {
      let end = steps.crashEnds[number]
      var next = crashed
      next.set(device: device, Int(end.device))
      try post(end.sent, from: device, isAwaited: false, &next)
      move.crash = UInt8(index + 1)
      try append(next, move, end.fault)
    }
  }

  private func post(
    _ sent: (Int16, Int16), from device: Int, isAwaited: Bool, _ state: inout SmallState
  ) throws(OutsideTheSmallWorld) {
    for request in [sent.0, sent.1] where request >= 0 {
      let letter = SmallLetter(Int(request), from: device, isAwaited: isAwaited)
      guard state.add(letter) else { throw OutsideTheSmallWorld(description: "six letters at one time") }
    }
  }

  /// Before the first purchase, the devices have no names.
  private mutating func append(
    _ state: SmallState, _ move: SmallMove, _ fault: Int32
  ) throws(OutsideTheSmallWorld) {
    var (state, move) = (state, move)
    try tidy(&state)
    move.mirrors =
      world.devices == 2 && steps.outsideFacts[state.outside].sales == 0 && state.device(0) > state.device(1)
    all.append(SmallSuccessor(state: move.mirrors ? state.mirrored : state, move: move, fault: fault))
  }

  /// Leaves out what can have no effect any more: transactions that are finished and were to be handed over, and requests
  /// without a process that would change nothing in the ledger. (A credit is never taken back in the small world. Only a seat
  /// can go to another device, and come back.)
  private func tidy(_ state: inout SmallState) throws(OutsideTheSmallWorld) {
    let outside = steps.outsideFacts[state.outside]
    for device in 0..<world.devices {
      let gone = steps.deviceFacts[state.device(device)].arriving & ~outside.listed
      for sale in 0..<outside.sales where gone & 1 << sale != 0 {
        let next = try steps.result(of: SmallEvent.forgets(sale).number, on: state.device(device)).device
        state.set(device: device, Int(next))
      }
    }
    var place = 0
    while let letter = state.letter(place) {
      let next = try steps.answer(letter.request, from: letter.device, in: state.outside).outside
      let isOfSeat = steps.mail.requests[letter.request].claims.contains { $0.sale == world.seat }
      let isIdle = !letter.isAwaited && next == state.outside && !isOfSeat
      if isIdle { state.remove(place) } else { place += 1 }
    }
  }

  // MARK: The network

  private mutating func addArrival(
    of letter: SmallLetter, at place: Int, _ state: SmallState
  ) throws(OutsideTheSmallWorld) {
    var next = state
    next.remove(place)
    let (outside, answer) = try steps.answer(letter.request, from: letter.device, in: state.outside)
    next.outside = outside
    if letter.isAwaited { _ = next.add(letter.with(answer: answer)) }
    let move = SmallMove(kind: .arrives, device: UInt8(letter.device), letter: UInt8(place), isProgress: true)
    try append(next, move, -1)
  }

  /// The device gets the answer, or it gives the request up: the answer is lost, or comes too late.
  private mutating func addAnswer(
    _ letter: SmallLetter, at place: Int, _ state: SmallState
  ) throws(OutsideTheSmallWorld) {
    let lane = steps.mail.requests[letter.request].lane
    if letter.answer >= 0 {
      try add(.reply(lane: lane, letter.answer), letter.device, state, at: place) { $0.remove(place) }
    }
    guard state.has(.lostReply) else { return }
    try add(.noReply(lane: lane), letter.device, state, at: place) {
      $0.use(.lostReply)
      $0.remove(place)
      if letter.answer < 0 { _ = $0.add(letter.orphan) }
    }
  }

  // MARK: Checks

  /// The invariant that the state breaks.
  func fault(of state: SmallState) -> SmallFault? {
    let outside = steps.outsideFacts[state.outside]
    if outside.fault >= 0 { return steps.faults[Int(outside.fault)] }
    var kept = outside.listed | outside.credited
    for device in 0..<world.devices { kept |= steps.deviceFacts[state.device(device)].queued }
    let lost = ((1 << outside.sales) - 1) & ~kept
    guard lost != 0 else { return nil }
    return SmallFault(
      .conservation,
      "\(Names.id(lost.trailingZeroBitCount)) is paid, and neither credited, nor queued, nor listed by the store"
    )
  }

  /// Whether everything that was paid is delivered: credited, finished, published and confirmed.
  func isDelivered(_ state: SmallState) -> Bool {
    let outside = steps.outsideFacts[state.outside]
    guard outside.listed == 0, outside.credited == (1 << outside.sales) - 1, state.high == 0 else {
      return false
    }
    return (0..<world.devices).allSatisfy { steps.deviceFacts[state.device($0)].isDone }
  }
}
