import Foundation
import PurchaseQueue
import PurchaseSQLite
import PurchaseSync
import Specification

/// The checks of the other phones, and of what the phones have in common.
extension EngineSimulation {
  /// The committed content of the file that a process uses.
  func content(of process: EngineProcess) -> FileWatch.Content? {
    guard let phone = process.phone else {
      look()
      return watch?.content
    }
    return content(of: phone)
  }

  func content(of phone: EnginePhone) -> FileWatch.Content? {
    do throws(SQLiteError) {
      if phone.watch == nil { phone.watch = try FileWatch(path: phone.directory + "/q") }
      if let watch = phone.watch, try watch.look() { try checkHandedOut(watch, on: phone.number) }
      watchCommits(of: phone.number, phone.watch?.content)
    } catch {
      checker.broken(.prefix, "what \(phone.name) has committed cannot be read: \(error)")
    }
    return phone.watch?.content
  }

  // MARK: The device

  /// Invariant 6: no two phones have one name, and no phone has two. Returns the number of the phone with the name that
  /// the request shows; nil if it shows none.
  func device(of request: BackendRequest, _ process: EngineProcess) -> Int? {
    let headers = [request.headers["Authorization"], request.headers[BackendRequest.deviceHeader]]
    guard let identity = headers.compactMap({ $0 }).first(where: { $0.hasPrefix("Device ") }) else {
      return nil
    }
    let number = process.phone?.number ?? 0
    let known = deviceNames[identity] ?? number
    checker.expect(
      .ownName, known == number, "phone \(number + 1) uploads in the name of phone \(known + 1)")
    if deviceNames[identity] == nil {
      checker.expect(
        .ownName, !deviceNames.values.contains(number), "phone \(number + 1) has two names")
      deviceNames[identity] = number
    }
    return known
  }

  // MARK: Owners

  /// Invariant 32: the backend says the truth to another phone about an owner.
  func noted(
    _ answer: LeanBackend.Answer, about sale: Int, from uploader: Int, _ presented: Int, _ phone: EnginePhone
  ) {
    guard answer.ruling.isSettled, let told = answer.owner else { return }
    let asker = uploader < 0 ? presented : uploader
    let person = asker < 0 ? "" : Names.accounts[asker]
    phone.answers[sale, default: []].insert(told == .yours ? "yours/" + person : told.rawValue)
    guard let credit = backend.credit(of: sale) else { return }
    let owner = backend.owner(of: credit, store)
    let truth: PurchaseOwner = owner >= 0 && owner == asker ? .yours : owner == uploader ? .device : .another
    checker.expect(
      .ownerTold, told == truth,
      "\(person) asks by \(phone.name), which is told that \(Names.id(sale)) is \(told.rawValue)")
  }

  /// The app of another phone receives an outcome. Invariant 32: of another account's purchase it does not learn as of
  /// its own, even if that account used the phone before.
  func hears(_ outcome: Outcome, _ process: EngineProcess, _ phone: EnginePhone) {
    let sale = Names.transaction(outcome.key)
    tell(process, "is told that \(Names.id(sale)) is \(outcome.owner.rawValue)")
    watchOutcome(of: sale, outcome.verdict, process)
    checker.expect(
      .finished, content(of: phone)?.stones[outcome.key.rawValue] != nil,
      "\(phone.name) received the outcome of \(outcome.key), which is not settled in its file")
    phone.told.insert(sale)
    let user = outcome.lane.account ?? phone.user ?? ""
    let answers = phone.answers[sale, default: []]
    let isTrue =
      switch outcome.owner {
      case .yours: answers.contains("yours/" + user)
      case .device: answers.contains("device")
      default: answers.contains { $0 != "device" && $0 != "yours/" + user }
      }
    if outcome.owner == .yours, isTrue, phone.restored.contains(sale) { checker.mark(.restoredAsOwn) }
    if outcome.owner == .another, isTrue, phone.restored.contains(sale) { checker.mark(.restoredAsAnothers) }
    // What the copied file held is what the first phone learned.
    checker.expect(
      .ownerTold, isTrue || phone.hasCopiedOutcome(of: sale),
      "\(Names.id(sale)) was told \(phone.name) as \(answers.sorted()), and its app hears \(outcome.owner.rawValue)"
    )
  }

  /// Invariant 6: nothing that was bought with one Apple ID belongs to the other's person, nor to that one's phone. The
  /// entries of a copied file are on both phones, and belong to the first one that proves them.
  func checkBuyers() {
    guard let phone = phones.first(where: { $0.isClone && $0.storeAccount == 1 }) else { return }
    let theirs = [LeanBackend.device(phone.number), Names.account("carol")]
    for sale in store.sales.indices where !phone.hasCopied(sale) {
      guard let credit = backend.credit(of: sale) else { continue }
      let owner = backend.owner(of: credit, store)
      let isTheirs = store.sales[sale].buyer == 1
      checker.expect(
        .ownName, isTheirs == theirs.contains(owner),
        "\(Names.id(sale)) was paid by \(Names.storeAccounts[store.sales[sale].buyer]), and belongs to \(owner)"
      )
    }
  }

  // MARK: The end

  /// Invariant 3.
  func checkFinish(_ sale: Int, _ process: EngineProcess, _ phone: EnginePhone) {
    checker.expect(
      .finishAfterAcknowledgement, content(of: process)?.stones[Names.key(sale).rawValue] != nil,
      "\(Names.id(sale)) is finished by \(phone.name), and was not acknowledged")
  }

  /// An upload of another phone: each claim is queued there, and rests on a proof of its own.
  func checkUpload(_ upload: UploadRequest, _ process: EngineProcess, _ phone: EnginePhone) {
    let content = content(of: process)
    for claim in upload.claims {
      let key = claim.environment + "/" + claim.transactionID
      let sale = Names.order(claim.transactionID)
      checker.expect(
        .sendAfterEnqueue, content?.rows[key] != nil, "\(phone.name) sends \(key), which is not in its queue")
      guard let proof = upload.proof(of: claim) else { continue }
      let isOwn =
        proof.kind == .appReceipt
        ? receipts[proof.data]?.contains(sale) == true : store.hasSigned(proof.data, as: sale)
      checker.expect(.sendAfterEnqueue, isOwn, "\(phone.name) sends \(key) with the proof of another")
    }
  }

  /// The first work that another phone has not done; nil if none is left. Entries and finishes that came with a copied
  /// file may wait for its account and its Apple ID.
  func pendingElsewhere() -> String? {
    for phone in phones {
      // Another phone of the Apple ID may have learned it, and finished it.
      let bought = phone.storeAccount == 0 ? [] : phone.bought
      for sale in bought.union(phone.restored).sorted() where !phone.told.contains(sale) {
        if phone.hasCopiedOutcome(of: sale) { continue }
        return "the app of \(phone.name) never received the outcome of \(Names.id(sale))"
      }
      guard let content = content(of: phone) else { continue }
      let own = [Lane.device.rawValue] + (phone.user.map { [Lane.account($0).rawValue] } ?? [])
      for (key, row) in content.rows.sorted(by: { $0.key < $1.key }) {
        let isCopied = phone.copied.rows[key] != nil || phone.copied.stones[key] != nil
        // With the same Apple ID, an order in the copy may be that of a person who is not signed in here.
        if own.contains(row.lane) || !isCopied && phone.storeAccount == 1 {
          return "\(key) is queued on \(phone.name)"
        }
      }
      for (key, stone) in content.stones.sorted(by: { $0.key < $1.key }) {
        guard phone.copied.rows[key] == nil, phone.copied.stones[key] == nil else { continue }
        if stone.hasPendingFinish { return "the finish of \(key) is pending on \(phone.name)" }
      }
    }
    return nil
  }
}
