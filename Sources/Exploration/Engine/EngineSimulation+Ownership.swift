import PurchaseQueue
import PurchaseSync

/// Purchases that this phone did not pay, or that follow an earlier one of another account, and what it learns of them.
extension EngineSimulation {
  func own(_ act: EngineAct, _ process: EngineProcess, _ engine: SyncEngine) async {
    buyers += 1
    defer { buyers -= 1 }
    let account = Names.accounts[people.below(knobs.accounts)]
    let product = people.below(knobs.products)
    switch act {
    case .heardElsewhere:
      // Her other device made the order and paid; the store informs all devices of an Apple ID.
      let order = backend.makeOrder(
        account: Names.account(account), product: product, at: now.milliseconds)
      checker.mark(.heardElsewhere)
      await handOver(charge(product, order), process, engine)
    case .resubscribe:
      let earlier = ownSales.filter { store.sales[$0].order >= 0 }
      guard !earlier.isEmpty else { return }
      let first = store.sales[people.pick(earlier)]
      guard let order = await begin(first.product, account, process, engine), process.isRunning else {
        return
      }
      checker.mark(.boughtAgain)
      await handOver(charge(first.product, slot(of: order), after: first.original), process, engine)
    case .bundle:
      guard let order = await begin(product, account, process, engine), process.isRunning else { return }
      for sale in chargeBundle(product, slot(of: order)) { await handOver(sale, process, engine) }
    case .seat:
      var order = -1
      if store.sales.count % 3 > 0 {
        guard let made = await begin(2, account, process, engine), process.isRunning else { return }
        order = slot(of: made)
      }
      checker.mark(order < 0 ? .seatWithoutToken : .seatWithToken)
      tell(nil, "a seat is assigned" + (order < 0 ? "" : ", with the token of order \(order + 1)"))
      await handOver(charge(2, nil, seat: order), process, engine)
    default:
      checker.mark(.offerRedeemed)
      await handOver(charge(product, nil), process, engine)
    }
  }

  /// A payment for a bundle of two. No source says whether each of its transactions has the order's token.
  private func chargeBundle(_ product: Int, _ order: Int) -> [Int] {
    let isTokenOnBoth = store.sales.count % 2 == 0
    let members = store.chargeBundle(
      LeanStore.Sale(
        buyer: 0, product: product, paidAt: now.milliseconds, order: order, original: 0, forgetsToken: false,
        proofs: .signed, poison: .none, phone: 0), isTokenOnBoth: isTokenOnBoth)
    checker.mark(isTokenOnBoth ? .bundleWithTokens : .bundleWithOneToken)
    for sale in members { noteCharge(sale) }
    tell(nil, "the store charges for the bundle \(members.map(Names.id)), order \(order + 1)")
    return members
  }

  /// A stranger names the id of a purchase without an order, just before the upload about it arrives.
  func guessID(of sale: Int) {
    guard sale % 3 == 1, store.sales[sale].order < 0, guessed.insert(sale).inserted else { return }
    checker.mark(.idGuessed)
    let handled = handled
    self.handled = nil
    defer { self.handled = handled }
    _ = answer(
      on: LeanBackend.LeanClaim(sale: sale, match: .none), tokenIsTold: true, isProven: false,
      from: sale / 3 % knobs.accounts, signedIn: -1)
  }

  /// Invariant 39: what a claim without a proof moves goes to the owner whom the store's record names.
  func answer(
    on claim: LeanBackend.LeanClaim, tokenIsTold: Bool, isProven: Bool, from uploader: Int, signedIn: Int
  ) -> LeanBackend.Answer {
    let checked = backend.checkedAnswer(
      on: claim, tokenIsTold: tokenIsTold, isProven: isProven, from: uploader, signedIn: signedIn, store,
      at: now.milliseconds)
    noted(checked, of: claim.sale, from: uploader)
    return checked.answer
  }

  /// What the Apple ID of the first phone has bought.
  var ownSales: [Int] { store.sales.indices.filter { store.sales[$0].buyer == 0 } }

  /// The account that uses the first phone.
  var user: String? { signedOut.contains(lastSignedIn) ? nil : lastSignedIn }

  /// Whether one account uses the phone during the whole run, and its token always comes.
  private var isUserConstant: Bool {
    knobs.credentials == 0
      && !knobs.acts.contains { [.signOut, .pendingSignOut, .claim, .callsBack].contains($0.act) }
  }

  /// Invariant 32: a device that says who uses it learns which purchases are that account's.
  /// The account of an order that was answered with an earlier purchase asks about it by itself.
  func noted(_ answer: LeanBackend.Answer, about sale: Int, from uploader: Int, _ presented: Int) {
    guard answer.ruling.isSettled, let owner = answer.owner else { return }
    ownersTold[sale, default: []].insert(owner)
    guard uploader < 0, isUserConstant, let user, let credit = backend.credit(of: sale) else { return }
    let isQuestion = presented >= 0 && presented != Names.account(user) && returned.contains(sale)
    let asker = isQuestion ? presented : Names.account(user)
    checker.expect(
      .ownerTold, (backend.owner(of: credit, store) == asker) == (owner == .yours),
      "\(Names.accounts[asker]) asks by the phone, which is told that \(Names.id(sale)) is \(owner.rawValue)")
  }

  /// Invariant 32: the app receives what the backend said.
  func checkOwner(_ outcome: Outcome) {
    let sale = Names.transaction(outcome.key)
    guard !discarded.contains(sale), let told = ownersTold[sale] else { return }
    // Another person may use the phone by now.
    let isAnothers = !isUserConstant && outcome.owner == .another && told.contains(.yours)
    checker.expect(
      .ownerTold, told.contains(outcome.owner) || isAnothers,
      "\(Names.id(sale)) was told as \(told.map(\.rawValue).sorted()), and the app hears \(outcome.owner.rawValue)"
    )
  }
}
