import PurchaseQueue
import PurchaseSync
import Specification

/// Acts and checks about whose purchase it is.
extension MachineSimulation {
  /// A payment names one order by its token: no other one is bound to it, unless a verdict says so.
  func checkOrder(of sale: Int, _ match: LeanBackend.LeanClaim.Match) {
    if isSeat(sale) {
      checker.expect(
        .seatIsMembers, match == .none, "\(Names.id(sale)) is a seat, and is claimed for an order")
    }
    guard case .bound(let order) = match, store.sales.indices.contains(sale) else { return }
    let sold = store.sales[sale]
    guard sold.order >= 0, !sold.forgetsToken, !lied.contains(sale), !backend.hasAccountTokens else { return }
    checker.expect(
      .binding, order == sold.order,
      "\(Names.id(sale)) is bound to order \(order + 1), and has the token of order \(sold.order + 1)")
  }

  /// The person who uses the app on a phone now.
  func user(of phone: Phone) -> AppUser {
    AppUser(account: phone.present < 0 ? nil : Names.accounts[phone.present], policy: knobs.unclaimed)
  }

  // MARK: Acts

  /// Hands over what the receipt holds and was finished, without tokens. After a restored backup the backend no longer
  /// knows the owners, and a receipt cannot say who they are: then no phone restores.
  func restore(_ process: Process) {
    let phone = process.phone
    guard process.isAlive, backend.epoch == 0 else { return }
    checker.mark(.restored)
    tell("phone \(phone.number + 1): purchases are restored")
    let receipt = store.receipt(of: phone.storeAccount)
    for sale in store.receipts[receipt].held.map(Int.init) where store.sales[sale].wasFinished {
      guard process.isAlive else { return }
      // A receipt does not say what is a seat; who restores one has what the store has signed.
      let isSeat = isSeat(sale)
      if isSeat { checker.mark(.seatRestored) }
      var transaction = store.transaction(
        sale, bySignature: isSeat, isPaying: false, lacksNewest: false, at: storeNow)
      if !isSeat { transaction.accountToken = nil }
      misread(&transaction, sale)
      watch?.take(.arrives(sale, at: phone.number))
      note(.isRestored, of: sale, phone)
      let user = user(of: phone)
      let error = step(process) { (machine, now) throws(QueueError) in
        try machine.transactionArrived(transaction, user: user, isRestored: true, now: now)
      }
      switch error {
      case nil, .queueFull, .invalid: continue
      default: if process.isAlive { setTimer(process, 8_000) }
      }
    }
  }

  func resubscribe(_ sale: Int, _ phone: Phone) {
    let process = processes[phone.number]
    guard sale >= 0, store.sales[sale].expiresAt != nil, store.sales[sale].buyer == phone.storeAccount,
      !isSeat(sale), process.isAlive, phone.user >= 0
    else { return }
    let order = makeOrder(phone, process, store.sales[sale].product)
    guard order >= 0 else { return }
    checker.mark(.boughtAgain)
    let next = store.resubscribe(sale, order: order, phone: phone.number, at: storeNow)
    noted(next, order)
    process.paid.append(Int32(next))
    figures.purchases += 1
    tell("phone \(phone.number + 1): \(Names.id(sale)) is bought again as \(Names.id(next))")
    plan(.delivery, at: now + Int64(1 + shop.below(knobs.latency)), next)
  }

  func redeemOfferCode(_ phone: Phone) {
    let sale = store.charge(
      LeanStore.Sale(
        buyer: phone.storeAccount, product: 0, paidAt: storeNow, order: -1, original: store.sales.count,
        forgetsToken: false, proofs: .signed, poison: .none, phone: phone.number))
    noted(sale, -1)
    figures.purchases += 1
    tell("phone \(phone.number + 1): an offer code is redeemed as \(Names.id(sale))")
    plan(.delivery, at: now + Int64(1 + shop.below(knobs.latency)), sale)
  }

  /// A payment for a bundle of two subscriptions. No source says whether each of its transactions has the order's token.
  func buyBundle(_ phone: Phone) {
    let process = processes[phone.number]
    guard process.isAlive, phone.user >= 0 else { return }
    let order = makeOrder(phone, process, 2)
    guard order >= 0 else { return }
    let isTokenOnBoth = store.sales.count % 2 == 0
    let members = store.chargeBundle(
      LeanStore.Sale(
        buyer: phone.storeAccount, product: 2, paidAt: storeNow, order: order, original: 0,
        forgetsToken: false,
        proofs: .signed, poison: .none, expiresAt: storeNow + LeanStore.period, phone: phone.number),
      isTokenOnBoth: isTokenOnBoth)
    checker.mark(isTokenOnBoth ? .bundleWithTokens : .bundleWithOneToken)
    tell(
      "phone \(phone.number + 1): a bundle is charged as \(members.map(Names.id)) for order \(order + 1)"
        + (isTokenOnBoth ? "" : ", the second without the token"))
    for sale in members {
      noted(sale, store.sales[sale].order)
      figures.purchases += 1
      plan(.delivery, at: now + Int64(1 + shop.below(knobs.latency)), sale)
    }
    process.paid.append(Int32(members[0]))
  }

  /// A stranger names the id of a purchase without an order, just before the upload about it arrives. Which purchases
  /// follows from their numbers: no random number is drawn.
  func guessID(of sale: Int) {
    guard sale % 3 == 1, store.sales[sale].order < 0, guessed.insert(sale).inserted else { return }
    checker.mark(.idGuessed)
    let stranger = sale / 3 % knobs.accounts
    let own = backend.orders.firstIndex {
      $0.account == stranger && $0.fulfilledBy == nil && $0.product == store.sales[sale].product
    }
    tell("\(Names.accounts[stranger]) names the id of \(Names.id(sale)), without a proof")
    let handled = handled
    self.handled = nil
    defer { self.handled = handled }
    _ = answer(
      on: LeanBackend.LeanClaim(sale: sale, match: own.map { .bound($0) } ?? .none), tokenIsTold: true,
      isProven: false, from: stranger, signedIn: -1)
  }

  // MARK: Checks

  /// The backend's answer. What a claim without a proof moves goes to the owner whom the store's record names.
  func answer(
    on claim: LeanBackend.LeanClaim, tokenIsTold: Bool, isProven: Bool, from uploader: Int, signedIn: Int
  ) -> LeanBackend.Answer {
    let before = ledgerOwner(of: claim.sale)
    let flawed = bug != nil && backend.isFlawed ? backend : nil
    let checked = backend.checkedAnswer(
      on: claim, tokenIsTold: tokenIsTold, isProven: isProven, from: uploader, signedIn: signedIn, store,
      at: storeNow)
    if var right = flawed {
      (right.flaw, right.forgetsTransactions) = (nil, false)
      let answer = right.checkedAnswer(
        on: claim, tokenIsTold: tokenIsTold, isProven: isProven, from: uploader, signedIn: signedIn, store,
        at: storeNow
      ).answer
      if answer != checked.answer || right.credit(of: claim.sale) != backend.credit(of: claim.sale)
        || right.count(of: claim.sale) != backend.count(of: claim.sale)
      {
        deeds.note(claim.sale)
      }
    }
    note(
      isProven ? .isClaimed : .isAsked, claim, before: before, uploader: uploader, signedIn: signedIn,
      tokenIsTold: tokenIsTold, checked.answer.ruling)
    noted(checked, of: claim.sale, from: uploader)
    return checked.answer
  }

  /// What the backend says about the owner of a credited transaction is true for the device that asked, and names no
  /// order of another account.
  func checkOwner(_ claim: LeanBackend.LeanClaim, _ answer: LeanBackend.Answer, _ upload: Upload) {
    guard answer.ruling.isSettled, let credit = backend.credit(of: claim.sale) else { return }
    let owner = backend.owner(of: credit, store)
    let isHers = owner >= 0 && (owner == upload.credential || upload.lane == 0 && owner == upload.signedIn)
    let truth: PurchaseOwner = isHers ? .yours : owner == upload.credential ? .device : .another
    checker.expect(
      .ownerTold, answer.owner == truth,
      "\(Names.id(claim.sale)) belongs to \(owner), and \(upload.credential) with \(upload.signedIn) is told "
        + "\(answer.owner?.rawValue ?? "nothing")")
    if isHers, upload.lane == 0 { checker.mark(.heardElsewhere) }
    guard truth == .another else { return }
    checker.expect(
      .othersUnnamed, answer.order.map { claim.match.names($0) } ?? true,
      "the verdict about \(Names.id(claim.sale)) names the order of another account")
  }

  /// A purchase without an owner is not credited to an account because that one is signed in.
  func checkUnclaimed(_ claim: LeanBackend.LeanClaim, _ credit: LeanBackend.LeanCredit, _ upload: Upload) {
    let sale = store.sales[claim.sale]
    guard upload.lane == 0, claim.match == .none, sale.order < 0, sale.original == claim.sale, sale.bundle < 0
    else { return }
    checker.expect(
      .ownName, credit.owner < 0, "\(Names.id(claim.sale)) has no owner, and is credited to \(credit.owner)")
  }

  /// The device keeps what it learned.
  func checkOwners(_ reply: UploadReply, _ upload: Upload, _ process: Process) {
    guard process.isAlive, !process.storage.hasStruck else { return }
    for (sale, verdict) in process.phone.shadow.given where verdict.isSettled {
      let told = reply.verdicts.first { Names.order($0.transactionID) == sale && $0.verdict == verdict }
      guard let told, let tombstone = tombstone(of: sale, process), tombstone.verdict == verdict else {
        continue
      }
      let owner = PurchaseOwner.settled(verdict, stated: told.owner, in: tombstone.lane)
      checker.expect(
        .ownerTold, tombstone.owner == owner,
        "\(Names.id(sale)) was told as \(owner.rawValue), and is kept as \(tombstone.owner.rawValue)")
      let outcome = Outcome(tombstone)
      checker.expect(
        .othersUnnamed, outcome.owner != .another || outcome.orderNumber == nil,
        "the outcome of \(Names.id(sale)) names the order of another account")
    }
  }

  private func tombstone(of sale: Int, _ process: Process) -> Tombstone? {
    do throws(QueueError) {
      return try process.storage.base.tombstone(Names.key(sale))
    } catch {
      return nil
    }
  }
}
