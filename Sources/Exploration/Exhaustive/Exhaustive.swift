import PurchaseSync

/// What an exhaustive search has found.
package struct ExhaustiveResult: Sendable {
  package var states = 0
  package var transitions = 0
  /// The most steps that a state is away from the beginning.
  package var depth = 0
  /// Whether nothing new is left.
  package var isClosed = false
  /// Why not, if it is not.
  package var reason: String?
  /// How often the production machine was called.
  package var machineSteps = 0
  package var bytes = 0
  package var violation: ExhaustiveViolation?

  package init() {}
}

/// A broken invariant, with a shortest way to it.
package struct ExhaustiveViolation: Sendable {
  package var invariant: InvariantNumber
  package var sentence: String
  package var what: String
  /// The steps to it, in words.
  package var steps: [String]
}

/// Visits every state of the small world, those that are nearest to its beginning first.
package final class ExhaustiveSearch {
  private var table = StateTable()
  private var next: SmallSuccessors
  private let mostBytes: Int
  /// Of each state: where its successors by progress begin in `progress`.
  private var starts: ContiguousArray<UInt32> = []
  private var progress: ContiguousArray<UInt32> = []
  private var result = ExhaustiveResult()

  /// - Parameters:
  ///   - seed: Of the machines. No range that is drawn from has a second number, so nothing depends on it.
  ///   - comparesEquals: Whether `difference` will be asked.
  package init(
    _ world: SmallWorld = SmallWorld(), bug: ExhaustiveBug? = nil, seed: UInt64 = 1, mostBytes: Int = 8 << 30,
    comparesEquals: Bool = false, _ make: @escaping BranchingStorageMaker
  ) throws {
    self.mostBytes = mostBytes
    next = SmallSuccessors(
      world, try SmallSteps(world, bug: bug, seed: seed, comparesEquals: comparesEquals, make))
  }

  /// Two states of a device that were held equal, and do not behave alike; nil if there are none.
  package func difference() throws -> String? { try next.steps.difference() }

  /// Runs until nothing new is found, or until the first violation. `goesOn` is asked after each few thousand states.
  package func run(_ goesOn: (ExhaustiveResult) -> Bool = { _ in true }) throws -> ExhaustiveResult {
    _ = table.insert(next.first, from: 0)
    var (number, level, levelEnd) = (0, 0, 1)
    while number < table.count, result.violation == nil {
      if number == levelEnd { (level, levelEnd) = (level + 1, table.count) }
      starts.append(UInt32(progress.count))
      try visit(number, level)
      number += 1
      guard number & 0xFFF == 0 else { continue }
      count(level)
      if table.bytes + table.bytesToGrow + 4 * (starts.capacity + progress.capacity) > mostBytes {
        result.reason = "the table needs more than \(mostBytes >> 20) MiB"
        return result
      }
      guard goesOn(result) else {
        result.reason = "it was interrupted"
        return result
      }
    }
    count(level)
    result.isClosed = result.violation == nil
    if result.isClosed { try checkDelivery() }
    return result
  }

  private func count(_ level: Int) {
    (result.states, result.depth, result.machineSteps) = (table.count, level, next.steps.calls)
    result.bytes = table.bytes + 4 * (starts.capacity + progress.capacity)
  }

  private func visit(_ number: Int, _ level: Int) throws {
    let state = table[number]
    try next.find(from: state)
    result.transitions += next.all.count
    for successor in next.all {
      if successor.fault >= 0 {
        return violated(
          next.steps.faults[Int(successor.fault)], try trace(to: number, then: successor.move))
      }
      let (found, isNew) = table.insert(successor.state, from: number)
      if successor.move.isProgress { progress.append(UInt32(found)) }
      guard isNew, let fault = next.fault(of: successor.state) else { continue }
      return violated(fault, try trace(to: found))
    }
  }

  private func violated(_ fault: SmallFault, _ steps: [String]) {
    result.violation = ExhaustiveViolation(
      invariant: fault.invariant.number, sentence: fault.invariant.sentence, what: fault.what, steps: steps)
  }

  // MARK: Delivery

  /// Invariants 23 and 24: from each state there is a way, without any fault and without a person who buys, to one where
  /// everything paid is delivered. There are finitely many states, so a run that is fair to each step gets there: a run that never
  /// does would stay in states from which there is no such way.
  private func checkDelivery() throws {
    starts.append(UInt32(progress.count))
    var reaches = ContiguousArray<Bool>(repeating: false, count: table.count)
    var left = table.count
    for number in 0..<table.count where next.isDelivered(table[number]) {
      reaches[number] = true
      left -= 1
    }
    var hasChanged = true
    // Most steps lead to later states: few rounds are enough.
    while hasChanged, left > 0 {
      hasChanged = false
      for number in stride(from: table.count - 1, through: 0, by: -1) where !reaches[number] {
        for place in starts[number]..<starts[number + 1] where reaches[Int(progress[Int(place)])] {
          reaches[number] = true
          hasChanged = true
          left -= 1
          break
        }
      }
    }
    guard left > 0, let stuck = reaches.firstIndex(of: false) else { return }
    violated(
      SmallFault(.delivered, "from here on, nothing delivers everything that was paid"), try trace(to: stuck))
  }

  // MARK: The way to a state

  /// The steps to a state, and one more from there.
  private func trace(to number: Int, then last: SmallMove? = nil) throws -> [String] {
    var numbers = [number]
    while let first = numbers.last, first != 0 { numbers.append(Int(table.parents[first])) }
    numbers.reverse()
    var lines: [String] = []
    var names = ["A", "B"]
    for (from, to) in zip(numbers, numbers.dropFirst()) {
      try next.find(from: table[from])
      guard let step = next.all.first(where: { $0.state == table[to] }) else { continue }
      lines.append(try words(of: step.move, from: table[from], names))
      if step.move.mirrors { names.reverse() }
    }
    if let last { lines.append(try words(of: last, from: table[number], names)) }
    return lines
  }

  private func words(of move: SmallMove, from state: SmallState, _ names: [String]) throws -> String {
    let name = names[Int(move.device)]
    let steps = next.steps
    if move.kind == .assigns {
      return
        "a seat is assigned as \(Names.id(steps.outsideFacts[state.outside].sales)), with the token of order 1"
    }
    guard move.kind == .device else {
      guard let letter = state.letter(Int(move.letter)) else { return "" }
      let answer = try steps.answer(letter.request, from: letter.device, in: state.outside).answer
      return "the backend gets the request of device \(name) about "
        + steps.mail.requests[letter.request].claims.map { Names.id($0.sale) }.joined(separator: ", ")
        + ", and answers "
        + steps.mail.answers[answer].verdicts.map(\.verdict.rawValue).joined(separator: ", ")
    }
    var text = "device \(name): " + SmallEvent(number: Int(move.event)).words(steps.mail)
    if move.crash > 0 { text += "; the process dies after effect \(move.crash) of it" }
    return text
  }
}

extension SmallEvent {
  func words(_ mail: SmallMail) -> String {
    func names(_ bits: Int) -> String {
      let all = (0..<SmallWorld.most).filter { bits & 1 << $0 != 0 }.map(Names.id)
      return all.isEmpty ? "nothing" : all.joined(separator: ", ")
    }
    switch self {
    case .launch: return "the app is launched"
    case .timer: return "the timer fires"
    case .listed(let listed): return "the store lists \(names(listed))"
    case .arrives(let sale): return "the store delivers \(Names.id(sale))"
    case .finished(let sale, true): return "the store finishes \(Names.id(sale))"
    case .finished(let sale, false): return "the store is to finish \(Names.id(sale)), and does not list it"
    case .reply(_, let answer):
      return "the answer comes: "
        + mail.answers[answer].verdicts.map(\.verdict.rawValue).joined(separator: ", ")
    case .noReply: return "the answer is lost"
    case .buys(let account, let sale): return "\(Names.accounts[account]) buys \(Names.id(sale))"
    case .charged(let sale): return "\(Names.id(sale)) was bought"
    case .forgets(let sale): return "\(Names.id(sale)) was finished"
    case .confirms(let sale): return "the app confirms the outcome of \(Names.id(sale))"
    case .leaves(let account):
      return "\(Names.accounts[account]) orders, and the process dies before the payment"
    case .reinstall: return "the app is deleted and installed again"
    case .crash: return "the process dies"
    }
  }
}
