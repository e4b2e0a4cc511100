/// The protocol of the App Store, the devices and the backend: what each of them may do next.
///
/// It is written to be read, from top to bottom, and to be run: each step of a simulated life is given to it, and it refuses
/// the first one that the protocol does not allow, in words. It shares no code with the engine and none with the models of
/// the store and the backend. It says what may happen and not what must: that everything paid is delivered in the end is
/// invariant 24 of the simulations.
///
/// The parties and what is durable at each:
///
/// - *The store* charges, hands a transaction to the devices of its store account until it is finished, and refunds.
/// - *A device* keeps a queue of entries, one for each transaction that is not settled, and a record of each that is. Its
///   processes (the app, an extension) share both. What a process has in memory ends with it.
/// - *The backend* keeps a ledger: one line for each transaction, with its owner.
package struct PurchaseProtocol: Sendable {
  package typealias Party = ProtocolStep.Party
  package typealias Word = ProtocolStep.Word

  private struct Purchase {
    var account: Int?
    var original: Int
    var isRefunded = false
    /// Some units are refunded, and the others are paid.
    var isPartlyRefunded = false
  }

  private struct Device {
    var arrived: Set<Int> = []
    /// Durable: the entries, each with its lane.
    var queue: [Int: Party] = [:]
    /// Durable: the records of what was settled, with each word about it, the latest last.
    var settled: [Int: [Word]] = [:]
    /// Entries that support staff gave up, or that one of several processes settled. An upload of them by another process
    /// may be on its way out.
    var leaving: [Int: Party] = [:]
    /// What was ever queued here, and in which lanes. A vault may give any copy back after the app is deleted.
    var copies: [Int: Set<Party>] = [:]
    /// In memory of each process: what an answer said about a transaction, until it is durable.
    var heard: [Int: [Int: Set<Word>]] = [:]
    /// The system's backup of the phone.
    var backup: (queue: [Int: Party], settled: [Int: [Word]])?
  }

  private struct Request {
    var process: Int
    var device: Int
    var party: Party
    var claims: [ProtocolStep.Claim]
    var sender: Party { if case .question = party { .device(device) } else { party } }
    var isReceived = false
    /// A request that arrives twice is answered twice, and one of the answers is received.
    var answers: [[(transaction: Int, word: Word)]] = []
  }

  private var purchases: [Int: Purchase] = [:]
  private var devices: [Int: Device] = [:]
  /// The device of each living process.
  private var living: [Int: Int] = [:]
  private var requests: [Int: Request] = [:]
  /// Requests that a living process waits for.
  private var inFlight: Set<Int> = []
  private var ledger: [Int: Party] = [:]
  /// Accounts that took the purchases of a device.
  private var adopters: [Int: Set<Int>] = [:]

  package init() {}

  /// Takes one step, or throws the rule that does not allow it.
  package mutating func take(_ step: ProtocolStep) throws(ProtocolRule) {
    switch step {
    case .paid(let transaction, let account, let original):
      purchases[transaction] = Purchase(account: account, original: original)
    case .refunded(let transaction, let isRefunded):
      purchases[transaction]?.isRefunded = isRefunded
      purchases[transaction]?.isPartlyRefunded = false
    case .partlyRefunded(let transaction):
      purchases[transaction]?.isRefunded = false
      purchases[transaction]?.isPartlyRefunded = true
    case .arrives(let transaction, let device): try arrives(transaction, device)
    case .queued(let transaction, let device, let lane): try queued(transaction, device, lane)
    case .sends(let request, let process, let device, let party, let claims):
      try sends(request, Request(process: process, device: device, party: party, claims: claims))
    case .hears(let request): try hears(request)
    case .ends(let request): inFlight.remove(request)
    case .settled(let transaction, let device, let word): try settled(transaction, device, word)
    case .removed(let transaction, let device, let isGivenUp): try removed(transaction, device, isGivenUp)
    case .forgotten(let transaction, let device): devices[device]?.settled[transaction] = nil
    case .told(let transaction, let device, let word): try told(transaction, device, word)
    case .finishes(let transaction, let device): try finishes(transaction, device)
    case .receives(let request): try receives(request)
    case .credited(let transaction, let owner, let request): try credited(transaction, owner, request)
    case .answers(let request, let verdicts): try answers(request, verdicts)
    case .finishedByBackend(let transaction): if ledger[transaction] == nil { throw .finishAfterCredit }
    case .adopted(let device, let account): adopters[device, default: []].insert(account)
    case .ledgerRestored(let kept): ledger = ledger.filter { kept.contains($0.key) }
    case .launched(let process, let device, let entries): try launched(process, device, entries)
    case .died(let process): died(process)
    case .reinstalled(let device): reinstalled(device)
    case .backedUp(let device): backedUp(device)
    case .setBack(let device): setBack(device)
    case .copied(let device, let other): copied(device, other)
    }
  }

  // MARK: Delivery

  /// A store hands over what was paid.
  private mutating func arrives(_ transaction: Int, _ device: Int) throws(ProtocolRule) {
    guard purchases[transaction] != nil else { throw .deliversPaid }
    devices[device, default: Device()].arrived.insert(transaction)
  }

  /// A device queues what the store has handed to it, once. A settled transaction may be queued again: its state has changed,
  /// or the backend has lost its ledger.
  private mutating func queued(_ transaction: Int, _ device: Int, _ lane: Party) throws(ProtocolRule) {
    let known = devices[device, default: Device()]
    guard known.arrived.contains(transaction) || known.settled[transaction] != nil else {
      throw .queuesDelivered
    }
    guard known.queue[transaction] == nil else { throw .queuesOnce }
    devices[device]?.queue[transaction] = lane
    devices[device]?.copies[transaction, default: []].insert(lane)
  }

  // MARK: Upload

  /// A process sends entries that are durable, in the name of their lane, one request at a time in each lane of a device.
  private mutating func sends(_ number: Int, _ request: Request) throws(ProtocolRule) {
    guard living[request.process] == request.device, let device = devices[request.device] else {
      throw .sendsAlive
    }
    for claim in request.claims {
      guard let lane = device.queue[claim.transaction] ?? device.leaving[claim.transaction] else {
        throw .sendsDurable
      }
      guard lane == request.party else { throw .sendsInItsName }
    }
    let others = inFlight.compactMap { requests[$0] }
    guard !others.contains(where: { $0.device == request.device && $0.party == request.party }) else {
      throw .oneInFlight
    }
    requests[number] = request
    inFlight.insert(number)
  }

  /// The network may lose a request, and deliver it late or twice.
  private mutating func receives(_ request: Int) throws(ProtocolRule) {
    guard requests[request] != nil else { throw .receivesSent }
    requests[request]?.isReceived = true
  }

  // MARK: The ledger

  /// A transaction has one line in the ledger. Its owner changes only if it was a device, or if the token names another.
  private mutating func credited(_ transaction: Int, _ owner: Party, _ number: Int?) throws(ProtocolRule) {
    guard let purchase = purchases[transaction], !purchase.isRefunded else { throw .creditsPaid }
    let request = number.flatMap { requests[$0] }
    if number != nil, request?.isReceived != true { throw .receivesSent }
    let claim = request?.claims.first { $0.transaction == transaction }
    if number != nil, claim == nil { throw .creditsClaimed }
    let named = purchase.account.map(Party.account)
    if let before = ledger[transaction] {
      guard before != owner, owner == named || before.isDevice else { throw .creditsOnce }
    }
    guard isOwner(owner, of: purchase, named, request?.sender, claim) else { throw .creditsOwner }
    ledger[transaction] = owner
  }

  /// The token names the owner. Without it: the owner of the subscription, the account of an order that the claim names, or
  /// the party that sent the claim. A claim without a proof gets what the store's record says, and nothing else: an id can
  /// be guessed.
  private func isOwner(
    _ owner: Party, of purchase: Purchase, _ named: Party?, _ sender: Party?, _ claim: ProtocolStep.Claim?
  ) -> Bool {
    let tellsToken = claim?.tellsToken ?? true
    if tellsToken, let named { return isSame(owner, named) }
    let chain = ledger.filter { purchases[$0.key]?.original == purchase.original }
    if chain.values.contains(where: { isSame(owner, $0) }) || owner == named { return true }
    guard let claim, claim.isProven, let sender else { return false }
    if case .account(let account) = owner, claim.accounts.contains(account) { return true }
    return isSame(owner, sender)
  }

  /// An account that adopted a device owns what the device owned.
  private func isSame(_ owner: Party, _ other: Party) -> Bool {
    if owner == other { return true }
    switch (owner, other) {
    case (.account(let account), .device(let device)), (.device(let device), .account(let account)):
      return adopters[device]?.contains(account) == true
    default: return false
    }
  }

  // MARK: The answer

  /// A verdict about a credit follows the credit: what the backend says is durable there. It is free to say `pending`.
  private mutating func answers(_ number: Int, _ verdicts: [(transaction: Int, word: Word)])
    throws(ProtocolRule)
  {
    guard let request = requests[number], request.isReceived else { throw .receivesSent }
    for verdict in verdicts where request.claims.contains(where: { $0.transaction == verdict.transaction }) {
      let isRefunded = purchases[verdict.transaction].map { $0.isRefunded || $0.isPartlyRefunded } ?? false
      if verdict.word.isAboutCredit, ledger[verdict.transaction] == nil { throw .answersDurable }
      if verdict.word == .refunded, !isRefunded { throw .answersDurable }
    }
    requests[number]?.answers.append(verdicts)
  }

  /// A device believes the answer to a request that it waits for, about the claims of that request. Of two words about one
  /// claim the first counts.
  private mutating func hears(_ number: Int) throws(ProtocolRule) {
    guard let request = requests[number], !request.answers.isEmpty else { throw .hearsAnswered }
    guard inFlight.remove(number) != nil else { throw .hearsInFlight }
    for claim in request.claims {
      devices[request.device]?.heard[request.process, default: [:]][claim.transaction] = Set(
        request.answers.compactMap { $0.first { $0.transaction == claim.transaction }?.word })
    }
  }

  // MARK: The end

  /// An entry leaves by a verdict that settles it, and that the device has received.
  private mutating func settled(_ transaction: Int, _ device: Int, _ word: Word) throws(ProtocolRule) {
    guard let known = devices[device], known.queue[transaction] != nil else { throw .settlesQueued }
    let process = known.heard.first { $0.value[transaction]?.contains(word) == true }?.key
    guard word.settles, let process else { throw .settlesHeard }
    if living.values.count(where: { $0 == device }) > 1 {
      devices[device]?.leaving[transaction] = known.queue[transaction]
    }
    devices[device]?.queue[transaction] = nil
    devices[device]?.heard[process]?[transaction] = nil
    devices[device]?.settled[transaction, default: []].append(word)
  }

  /// Support staff may give an entry up. An entry that only asks about a settled transaction may go at any time.
  private mutating func removed(_ transaction: Int, _ device: Int, _ isGivenUp: Bool) throws(ProtocolRule) {
    guard let known = devices[device], known.queue[transaction] != nil else { throw .settlesQueued }
    guard isGivenUp || known.settled[transaction] != nil else { throw .settlesHeard }
    if isGivenUp { devices[device]?.leaving[transaction] = known.queue[transaction] }
    devices[device]?.queue[transaction] = nil
    devices[device]?.settled[transaction, default: []] += []
  }

  /// An outcome that is on its way to the app may be followed by another. A person who uses the app now learns of
  /// another account's purchase as of another's.
  private func told(_ transaction: Int, _ device: Int, _ word: Word) throws(ProtocolRule) {
    guard let words = devices[device]?.settled[transaction], !words.isEmpty else { throw .tellsSettled }
    guard words.contains(word) || word == .otherOwner else { throw .tellsSettled }
  }

  /// The store forgets a finished transaction. So a device finishes what is settled, and durable as such.
  private func finishes(_ transaction: Int, _ device: Int) throws(ProtocolRule) {
    guard devices[device]?.settled[transaction] != nil else { throw .finishesSettled }
  }

  // MARK: What happens to devices

  /// A launch finds what was committed: no entry less, and none more than a vault gives back.
  private mutating func launched(_ process: Int, _ number: Int, _ entries: [Int: Party]) throws(ProtocolRule)
  {
    var device = devices[number, default: Device()]
    guard device.queue.keys.allSatisfy({ entries[$0] != nil }) else { throw .launchKeeps }
    for (entry, lane) in entries where device.queue[entry] == nil {
      let isCopy = device.copies[entry]?.contains(lane) == true && device.settled[entry] == nil
      guard isCopy else { throw .launchInvents }
      device.queue[entry] = lane
    }
    devices[number] = device
    living[process] = number
  }

  /// What a process has in memory ends with it: its requests, and answers that are not durable.
  private mutating func died(_ process: Int) {
    guard let device = living.removeValue(forKey: process) else { return }
    inFlight = inFlight.filter { requests[$0]?.process != process }
    devices[device]?.heard[process] = nil
  }

  private mutating func reinstalled(_ device: Int) {
    devices[device] = devices[device].map { Device(copies: $0.copies, backup: $0.backup) }
  }

  private mutating func backedUp(_ device: Int) {
    // Also of a phone on which nothing has happened yet: its backup is empty.
    let known = devices[device, default: Device()]
    devices[device, default: Device()].backup = (known.queue, known.settled)
  }

  private mutating func setBack(_ device: Int) {
    guard let backup = devices[device]?.backup else { return }
    devices[device]?.queue = backup.queue
    devices[device]?.settled = backup.settled
  }

  private mutating func copied(_ device: Int, _ other: Int) {
    guard let original = devices[other] else { return }
    let queue = original.queue.mapValues { $0 == .device(other) ? .device(device) : $0 }
    devices[device] = Device(queue: queue, settled: original.settled, copies: queue.mapValues { [$0] })
  }
}
