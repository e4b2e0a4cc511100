import PurchaseQueue
import PurchaseSync
import Specification

/// Requests and their replies.
extension MachineSimulation {
  /// How long a request waits for an answer, in milliseconds.
  private static let patience: Int64 = 60_000

  // MARK: Sending

  func send(_ entries: [Entry], in lane: Int, _ process: Process) {
    let phone = process.phone
    let lease = phone.leases[lane]
    var isTaken = lease >= 0 && lease != process.number && processes[lease].isAlive
    if bug == .leaseIgnored, isTaken { isTaken = deeds.done(false) }
    var credential = lane == 0 ? LeanBackend.device(phone.number) : lane - 1
    if bug == .wrongAccountAfterSwitch, lane > 0, phone.user >= 0, phone.user != credential {
      credential = deeds.done(phone.user)
    }
    if !isTaken {
      checker.expect(
        .ownName, credential == (lane == 0 ? LeanBackend.device(phone.number) : lane - 1),
        "lane \(Names.lanes[lane].rawValue) was sent in the name of \(credential)")
    }
    let isSignedIn = lane == 0 || phone.isSignedIn(credential)
    // Only what goes out is an attempt.
    if !isTaken, isSignedIn {
      guard beginAttempt(in: lane, process) else { return }
      checkSend(entries, in: lane, process)
    }
    let number = makeUpload(entries, lane, credential, process)
    process.uploads[lane] = Int32(number)
    tell(
      "phone \(phone.number + 1): sends "
        + entries.map { String($0.key.rawValue.dropFirst(11)) }.joined(separator: ", ")
        + " in lane \(Names.lanes[lane].rawValue)")
    guard !isTaken else {
      checker.mark(.leaseDenied)
      noteClaims(of: number, .leaseDenied)
      return end(number, .laneTaken, after: 1)
    }
    phone.leases[lane] = process.number
    guard isSignedIn else { return end(number, .signInNeeded, after: 1) }
    watchSend(number)
    countRequest(process, isUpload: true)
    dispatch(number)
    noteClaims(of: number, .isSent, uploads[number].fate.map { 1 + Int($0.rawValue) } ?? 0)
    redeliverElsewhere(number)
    if bug == .doubleSend, entries.count == 1 {
      deeds.note(Names.transaction(entries[0].key))
      checkSend(entries, in: lane, process)
    }
  }

  /// The machine records the attempt, or holds the request back. True if it goes out.
  private func beginAttempt(in lane: Int, _ process: Process) -> Bool {
    var begins = false
    var actions: [SyncAction] = []
    process.machine.uptime = now
    do throws(QueueError) {
      switch try process.machine.attemptBegins(lane: Names.lanes[lane], now: deviceNow(process.phone)) {
      case .send(let told): (begins, actions) = (true, told)
      case .hold(let next): actions = next
      }
    } catch {
      if !process.storage.isDead { setTimer(process, 8_000) }
    }
    guard !process.storage.isDead else {
      killedInWrite(process)
      return false
    }
    perform(actions, process)
    return begins && process.isAlive
  }

  private func makeUpload(_ entries: [Entry], _ lane: Int, _ credential: Int, _ process: Process) -> Int {
    var claims: [LeanBackend.LeanClaim] = []
    claims.reserveCapacity(entries.count)
    let shadow = process.phone.shadow
    let places = entries.map(\.place)
    for entry in entries {
      let sale = Names.transaction(entry.key)
      let row = shadow.row(sale)
      let match: LeanBackend.LeanClaim.Match =
        row.order >= 0 ? .bound(row.order) : row.candidates.isEmpty ? .none : .proposed(row.candidates)
      claims.append(LeanBackend.LeanClaim(sale: sale, match: match))
      checkOrder(of: sale, match)
    }
    let versions = claims.map { shadow.row($0.sale).version }
    for claim in claims { process.storage.arrived.remove(claim.sale) }
    var proofs = zip(entries, claims).map { Self.proof(of: $0, shadow.row($1.sale), $1.sale) }
    note(proofs)
    let before = process.failedUploads[lane]
    if before >= 0, claims.count < uploads[before].claims.count,
      uploads[before].claims.contains(where: { $0.sale == claims.first?.sale })
    {
      checker.mark(.smallerUpload)
    }
    if bug == .firstProofForAll, let first = proofs.first {
      for (claim, proof) in zip(claims, proofs) where proof != first { deeds.note(claim.sale) }
      proofs = Array(repeating: first, count: proofs.count)
    }
    for (claim, proof) in zip(claims, proofs) {
      guard case .signed(let sale) = proof else { continue }
      checker.expect(
        .sendAfterEnqueue, sale == claim.sale, "\(Names.id(claim.sale)) is sent with the proof of another")
    }
    uploads.append(
      Upload(
        process: process.number, launch: process.launch, phone: process.phone.number, lane: lane,
        claims: claims, credential: credential, proofs: proofs,
        signedIn: lane == 0 ? process.phone.present : -1, places: places, versions: versions,
        attempt: shadow.row(claims.first?.sale ?? -1).attempts))
    return uploads.count - 1
  }

  private static func proof(of entry: Entry, _ row: Shadow.Row, _ sale: Int) -> SentProof {
    guard !entry.payloads.isEmpty else { return .none }
    return row.isSigned || row.receipt < 0 ? .signed(sale) : .receipt(row.receipt)
  }

  private func note(_ proofs: [SentProof]) {
    guard proofs.count > 1 else { return }
    if Set(proofs).count > 1 { checker.mark(.severalProofs) }
    if Set(proofs.filter(\.isReceipt)).count < proofs.count(where: \.isReceipt) { checker.mark(.sharedRun) }
  }

  /// Sends the request, with the fault that strikes it.
  private func dispatch(_ number: Int) {
    let phone = phones[uploads[number].phone]
    let way = Int64(1 + network.below(knobs.latency))
    guard faultBits != 0 else {
      plan(.uploadArrives, at: now + way, number)
      return plan(.uploadEnds, at: now + 2 * way, number)
    }
    let fate = Self.networkFaults.first { strikes($0, phone, &network) }
    uploads[number].fate = fate
    switch fate {
    case .dropRequest, .stall:
      if fate == .stall, network.chance(500) { plan(.uploadArrives, at: now + way, number) }
      end(number, .retry(reason: "no answer", retryAfterMilliseconds: nil), after: Self.patience)
    case .loseReply:
      checker.mark(.replyLost)
      plan(.uploadArrives, at: now + way, number)
      end(number, .retry(reason: "no answer", retryAfterMilliseconds: nil), after: Self.patience)
    case .duplicate:
      checker.mark(.requestTwice)
      plan(.uploadArrives, at: now + way, number)
      plan(.uploadArrives, at: now + 3 * way, number)
      plan(.uploadEnds, at: now + 2 * way, number)
    case .delay:
      let late = way + Int64(network.below(50_000))
      plan(.uploadArrives, at: now + late, number)
      plan(.uploadEnds, at: now + late + way, number)
    case .errorAfterCommit:
      plan(.uploadArrives, at: now + way, number)
      end(number, .requestFailed(reason: "HTTP 500", retryAfterMilliseconds: nil), after: 2 * way)
    case let fate?: end(number, refusal(fate), after: 2 * way)
    case nil:
      plan(.uploadArrives, at: now + way, number)
      plan(.uploadEnds, at: now + 2 * way, number)
    }
  }

  static let networkFaults = Fault.allCases.filter(\.ofNetwork)

  private func end(_ number: Int, _ failure: UploadFailure, after delay: Int64) {
    uploads[number].failure = failure
    plan(.uploadEnds, at: now + delay, number)
  }

  /// The failure of a network or backend that does not process the request.
  func refusal(_ fault: Fault) -> UploadFailure {
    switch fault {
    case .captivePortal:
      checker.mark(.captive)
      return .retry(reason: "HTTP 200, a page", retryAfterMilliseconds: nil)
    case .offline: return .retry(reason: "no connection", retryAfterMilliseconds: nil)
    case .signsInAgain: return .tokenRefused
    case .busy:
      checker.mark(.busy)
      let asked: Int64 = network.pick([1_000, 30_000, 600_000, 7_200_000, .max])
      return .backendBusy(reason: "HTTP 503", retryAfterMilliseconds: network.chance(800) ? asked : nil)
    case .badRequest:
      // A backend of another version, for a while. Which ones follows from the requests: no random number is drawn.
      guard uploads.count % 4 == 3 else { return .backendFault(reason: "HTTP 400") }
      checker.mark(.otherProtocol)
      return .otherProtocol(reason: "HTTP 426")
    case .unauthorized: return .tokenRefused
    default:
      let asked: Int64? = network.chance(300) ? network.pick([5_000, 600_000, 7_200_000]) : nil
      return .requestFailed(reason: "HTTP 500", retryAfterMilliseconds: asked)
    }
  }

  // MARK: At the backend

  func uploadArrives(_ number: Int) {
    let upload = uploads[number]
    if !isCured, upload.claims.contains(where: { store.sales[$0.sale].poison == .crashes }) {
      uploads[number].failure =
        uploads[number].failure
        ?? .requestFailed(
          reason: "HTTP 500", retryAfterMilliseconds: nil)
      return
    }
    let phone = phones[upload.phone]
    watch?.take(.receives(number))
    handled = number
    defer { handled = nil }
    let isAsleep = strikes(.storeUnavailable, phone, &answers)
    var verdicts: [ClaimVerdict] = []
    verdicts.reserveCapacity(upload.claims.count)
    for (claim, proof) in zip(upload.claims, upload.proofs) {
      let poison = isCured ? .none : store.sales[claim.sale].poison
      if poison == .unanswered { continue }
      verdicts.append(verdict(about: claim, resting: proof, upload, isAsleep: isAsleep, poison))
    }
    guard uploads[number].reply == nil else { return }
    if faultBits != 0 { distort(&verdicts, phone) }
    watchAnswer(number, verdicts)
    if let bug {
      uploads[number].truth = verdicts
      bug.distort(&verdicts)
      note(verdicts, insteadOf: uploads[number].truth ?? [])
    }
    let epoch = bug == .epochIgnored && backend.epoch > 0 ? deeds.done(0) : backend.epoch
    var ledger = Self.ledger(epoch)
    if number.isMultiple(of: 2), strikes(.twoServers, phone, &answers) {
      checker.mark(.twoServers)
      ledger = "epoch of the other server"
    }
    uploads[number].reply = UploadReply(ledgerEpoch: ledger, verdicts: verdicts)
  }

  private static let epochs = (0..<10).map { "epoch-\($0)" }

  /// The name of the ledger after so many restored backups.
  static func ledger(_ epoch: Int) -> String { epoch < epochs.count ? epochs[epoch] : "epoch-\(epoch)" }

  private func verdict(
    about claim: LeanBackend.LeanClaim, resting proof: SentProof, _ upload: Upload, isAsleep: Bool,
    _ poison: Buying.Poison
  ) -> ClaimVerdict {
    var told = ClaimVerdict(
      environment: Names.environment, transactionID: Names.id(claim.sale), verdict: .pending)
    if isAsleep {
      told.retryAfter = answers.chance(500) ? answers.pick([5, 600, 7_200, 1e9]) : nil
      checker.mark(.pendingVerdict)
      return told
    }
    if poison == .rejected {
      told.verdict = .rejected
      told.reason = "poison"
      told.retryAfter = claim.sale % 3 == 0 ? 7_200 : nil
      return told
    }
    let isProven =
      switch proof {
      case .none: true
      case .receipt(let receipt): store.holds(receipt: receipt, claim.sale)
      case .signed(let sale): sale == claim.sale
      }
    guard isProven, !isLost(proof, upload) else {
      told.verdict = .unknownTransaction
      return told
    }
    let answer = answer(to: claim, resting: proof, upload)
    told.orderNumber = answer.order.map { String($0 + 1) }
    told.verdict = answer.ruling.verdict
    told.owner = answer.owner
    backend.sayRefund(of: claim.sale, in: &told, store)
    return told
  }

  /// Whether the backend does not find a transaction in a receipt that holds it. The next receipt is a new one.
  private func isLost(_ proof: SentProof, _ upload: Upload) -> Bool {
    let phone = phones[upload.phone]
    guard proof.isReceipt, strikes(.freshReceipts, phone, &answers) else { return false }
    checker.mark(.receiptsAnew)
    store.signAnew(receiptOf: phone.storeAccount)
    return true
  }

  private func answer(
    to claim: LeanBackend.LeanClaim, resting proof: SentProof, _ upload: Upload
  ) -> LeanBackend.Answer {
    // A planted bug: the backend replies before it commits, and then crashes.
    if bug == .answersBeforeCommit, claim.sale % 7 == 3, !isOnRecord[claim.sale] {
      return deeds.done(LeanBackend.Answer(ruling: .granted), claim.sale)
    }
    guessID(of: claim.sale)
    let before = backend.count(of: claim.sale)
    backend.forgetsTransactions =
      bug == .backendForgetsTransactions && before > 0
      || bug == .keysByInstallation && phones[upload.phone].shadow.ofImage
    let result = answer(
      on: claim, tokenIsTold: !proof.isReceipt, isProven: proof != .none, from: upload.credential,
      signedIn: upload.signedIn)
    checkCredit(claim, before: before, upload)
    checkOwner(claim, result, upload)
    return result
  }

  /// The wrong replies of a faulty backend.
  private func distort(_ verdicts: inout [ClaimVerdict], _ phone: Phone) {
    func any() -> Int? { verdicts.isEmpty ? nil : answers.below(verdicts.count) }
    if strikes(.unknownVerdict, phone, &answers), let index = any() {
      verdicts[index].verdict = Verdict(rawValue: "of a newer protocol")
    }
    if strikes(.wrongOrder, phone, &answers), let index = any(), !backend.orders.isEmpty {
      verdicts[index].orderNumber = String(answers.below(backend.orders.count) + 1)
      lied.insert(Names.number(verdicts[index].transactionID.utf8))
    }
    if strikes(.missingVerdict, phone, &answers), let index = any() { verdicts.remove(at: index) }
    if strikes(.contradiction, phone, &answers), let index = any() {
      var other = verdicts[index]
      other.verdict = .pending
      verdicts.insert(other, at: answers.below(verdicts.count + 1))
    }
    if strikes(.foreignVerdict, phone, &answers) {
      verdicts.append(
        ClaimVerdict(environment: Names.environment, transactionID: "666", verdict: .granted))
    }
    if strikes(.shuffled, phone, &answers) { verdicts.reverse() }
  }

  // MARK: The answer

  func uploadEnds(_ number: Int) {
    let upload = uploads[number]
    let process = processes[upload.process]
    guard process.isAlive, process.launch == upload.launch, process.uploads[upload.lane] == number else {
      return
    }
    process.uploads[upload.lane] = -1
    process.failedUploads[upload.lane] = upload.failure == nil ? -1 : number
    if process.phone.leases[upload.lane] == process.number { process.phone.leases[upload.lane] = -1 }
    var reply = upload.failure == nil ? upload.reply : nil
    watch?.take(reply == nil ? .ends(number) : .hears(number))
    if let failure = upload.failure, let planted = bug?.reply(to: upload, failure) {
      uploads[number].truth = []
      for claim in upload.claims { deeds.note(claim.sale) }
      reply = planted
    }
    if let reply { return replied(reply, uploads[number], process) }
    let failure = upload.failure ?? .retry(reason: "no answer", retryAfterMilliseconds: nil)
    let heard = bug?.heard(failure) ?? failure
    if heard != failure { for claim in upload.claims { deeds.note(claim.sale) } }
    failed(heard, told: failure, upload, process)
  }

  private func replied(_ reply: UploadReply, _ upload: Upload, _ process: Process) {
    tell(
      "phone \(process.phone.number + 1): answer "
        + reply.verdicts.map { "\($0.transactionID) \($0.verdict.rawValue)" }.joined(separator: ", "))
    hash.add(Int64(reply.verdicts.count))
    noteVerdicts(reply, process.phone)
    let shadow = process.phone.shadow
    noteReply(reply, upload, process)
    let newer = newerProofs(upload, process)
    feed(process) { (machine, now) throws(QueueError) in
      let user = upload.signedIn < 0 ? nil : Names.accounts[upload.signedIn]
      return machine.replyArrived(lane: Names.lanes[upload.lane], reply, presented: user, now: now)
    }
    checkReply(upload, process)
    checkOwners(reply, upload, process)
    checkNewerProofs(newer, process)
    shadow.given.removeAll(keepingCapacity: true)
  }

  private func failed(
    _ failure: UploadFailure, told said: UploadFailure, _ upload: Upload, _ process: Process
  ) {
    tell("phone \(process.phone.number + 1): \(failure)")
    if behaviours != nil { noteClaims(of: upload, .failureHeard, Self.number(of: failure)) }
    noteFailure(said, upload, process)
    if process.role == 0 { noteUnanswered(in: upload.lane, of: process) }
    feed(process) { (machine, now) throws(QueueError) in
      try machine.uploadFailed(lane: Names.lanes[upload.lane], failure, now: now)
    }
    checkRefusal(upload, failure, process)
    if !process.storage.hasStruck, process.isAlive { keepFloors(said, upload, process) }
    shareBackend(of: process)
    if case .interrupted = failure, process.isAlive, !process.isSuspended { wake(process, .foreground) }
    if upload.fate == .signsInAgain, upload.lane > 0, process.isAlive {
      checker.mark(.signedInAgain)
      paceWake(process, .signedIn(account: Names.accounts[upload.lane - 1]))
    }
  }
}
