import AppStoreReceipts
import PurchaseQueue
import PurchaseSync

/// A request as the network carries it. It names no device: two devices may send equal ones.
struct SmallRequest: Hashable {
  struct Claim: Hashable {
    var sale: Int
    /// The order that it names; -1 for none.
    var order: Int
    /// Whether it has a proof.
    var isProven: Bool
  }

  /// 0 for the device lane, else the account's number plus 1.
  var lane: Int
  /// In whose name it is sent, in the same numbers.
  var sender: Int
  /// The account that is signed in on the device, with the device lane; -1 for none.
  var signedIn: Int
  var claims: [Claim]
  /// How often the app was installed again before.
  var installation: Int
}

/// The store and the backend of the small world: the lean models of the simulations, and what the checks ask.
struct StoreAndBackend {
  private(set) var store = LeanStore(storeAccounts: 1)
  private(set) var backend = LeanBackend()
  /// For planted bugs: installations (as device and number) from which a transaction was uploaded.
  private var uploads: [Int: Set<Int>] = [:]
  let bug: ExhaustiveBug?
  private let world: SmallWorld

  init(_ world: SmallWorld, bug: ExhaustiveBug?) {
    (self.world, self.bug) = (world, bug)
    if bug == .bundleCountsOnce { backend.flaw = .creditsBundleOnce }
    if bug == .seatsByToken { backend.flaw = .takesTokensOfSeats }
  }

  // MARK: The store

  var sales: Int { store.sales.count }

  /// A purchase: the backend makes the order, and the store charges for it.
  mutating func buy(account: Int, device: Int) {
    let now = SmallWorld.storeNow
    let order = backend.makeOrder(account: account, product: 0, at: now)
    var sale = LeanStore.Sale(
      buyer: 0, product: 0, paidAt: now, order: order, original: store.sales.count, forgetsToken: false,
      proofs: .signed, poison: .none, phone: device)
    guard world.isBundle else { return _ = store.charge(sale) }
    sale.expiresAt = now + LeanStore.period
    _ = store.chargeBundle(sale, isTokenOnBoth: true)
  }

  /// A seat is assigned, with the token of the first order. If no purchase was made, that is an order of its purchaser's, which
  /// no device knows.
  mutating func assignSeat() {
    let (now, sale) = (SmallWorld.storeNow, store.sales.count)
    _ = backend.makeOrder(account: 0, product: 0, at: now)
    _ = store.charge(
      LeanStore.Sale(
        buyer: 0, product: 0, paidAt: now, order: -1, original: sale, forgetsToken: false, proofs: .signed,
        poison: .none, expiresAt: now + LeanStore.period, phone: 0, seat: 0))
  }

  /// The order of a purchase: both have one number.
  static func order(_ sale: Int) -> OrderDocument {
    OrderDocument(
      number: String(sale + 1), accountToken: Names.token(sale), productID: Names.products[0], quantity: 1,
      state: .open, createdAt: Timestamp(milliseconds: SmallWorld.storeNow))
  }

  /// The transactions that the store lists, as bits.
  var listed: Int {
    store.sales.indices.reduce(0) { $0 | (store.sales[$1].isListed ? 1 << $1 : 0) }
  }

  /// False if the store does not list it.
  mutating func finish(_ sale: Int) -> Bool { store.finish(sale, as: 0) }

  static func transaction(_ sale: Int, in world: SmallWorld) -> StoreTransaction {
    var transaction = StoreTransaction(
      environment: .production, transactionID: Names.id(sale), originalTransactionID: Names.id(sale),
      productID: Names.products[0], quantity: 1, purchasedAt: Timestamp(milliseconds: SmallWorld.storeNow),
      accountToken: Names.token(world.order(of: sale)),
      proof: Payload(kind: "signedTransaction", bytes: [LeanStore.signedMark, UInt8(sale)]))
    if world.isBundle {
      transaction.productID = Names.member(sale, of: 0)
      transaction.bundle = BundlePurchase(
        productID: Names.products[0], transactionID: "91", originalTransactionID: "91")
    }
    if sale == world.seat { transaction.ownership = .assigned }
    guard world.isBundle || sale == world.seat else { return transaction }
    transaction.expiresAt = transaction.purchasedAt.adding(milliseconds: LeanStore.period)
    return transaction
  }

  // MARK: The backend

  /// The transactions with a credit, as bits.
  var credited: Int {
    store.sales.indices.reduce(0) { $0 | (backend.count(of: $1) > 0 ? 1 << $1 : 0) }
  }

  /// The backend rules on each claim and answers.
  mutating func answer(_ request: SmallRequest, from device: Int) -> UploadReply {
    var verdicts: [ClaimVerdict] = []
    for claim in request.claims { verdicts.append(verdict(on: claim, of: request, from: device)) }
    return UploadReply(ledgerEpoch: "epoch-0", verdicts: verdicts)
  }

  private mutating func verdict(
    on claim: SmallRequest.Claim, of request: SmallRequest, from device: Int
  ) -> ClaimVerdict {
    var told = ClaimVerdict(
      environment: Names.environment, transactionID: Names.id(claim.sale), verdict: .granted)
    if bug == .answersBeforeCommit, backend.count(of: claim.sale) == 0 { return told }
    backend.forgetsTransactions = forgets(claim, request, device)
    let lean = LeanBackend.LeanClaim(
      sale: claim.sale, match: claim.order < 0 ? .none : .bound(claim.order))
    let answer = backend.answer(
      on: lean, tokenIsTold: claim.isProven, isProven: claim.isProven,
      from: request.sender == 0 ? LeanBackend.device(device) : request.sender - 1,
      signedIn: request.signedIn, store, at: SmallWorld.storeNow)
    backend.forgetsTransactions = false
    told.verdict = answer.ruling.verdict
    told.orderNumber = answer.order.map { String($0 + 1) }
    told.owner = answer.owner
    return told
  }

  /// The planted bugs of the backend's memory.
  private mutating func forgets(_ claim: SmallRequest.Claim, _ request: SmallRequest, _ device: Int) -> Bool {
    let name = 2 * request.installation + device
    switch bug {
    case .backendForgets: return backend.count(of: claim.sale) > 0
    case .keyedByInstallation:
      return uploads[claim.sale, default: []].insert(name).inserted && backend.count(of: claim.sale) > 0
    default: return false
    }
  }

  // MARK: Checks

  /// What is wrong with the ledger; nil if nothing is.
  var fault: SmallFault? {
    if world.isBundle, let fault = faultOfBundle { return fault }
    for sale in store.sales.indices {
      let count = backend.count(of: sale)
      if count > 1 { return SmallFault(.oneCredit, "\(Names.id(sale)) is credited \(count) times") }
      guard let credit = backend.credit(of: sale) else { continue }
      guard !store.sales[sale].isSeat else {
        if credit.owner < 0, credit.order == nil { continue }
        return SmallFault(.seatIsMembers, "\(Names.id(sale)) is a seat, and is credited to an account")
      }
      let account = backend.orders[store.sales[sale].order].account
      if credit.owner != account {
        return SmallFault(.ownName, "\(Names.id(sale)) is credited to another account than its order's")
      }
      if credit.order != store.sales[sale].order, !world.isBundle {
        return SmallFault(.binding, "\(Names.id(sale)) is credited, and does not fulfil its order")
      }
    }
    return nil
  }

  /// Each subscription is credited once, to one account, and one of them fulfils the order.
  private var faultOfBundle: SmallFault? {
    let credits = store.sales.indices.compactMap { backend.credit(of: $0) }
    guard !credits.isEmpty, credits.count(where: { $0.order == 0 }) != 1 else { return nil }
    return SmallFault(.bundleWhole, "\(credits.count) subscriptions are credited, and not one for the order")
  }

  var text: String {
    var text = ValueText(now: 0)
    text.add(value: store)
    text.add(value: backend)
    text.add(value: uploads)
    return text.text
  }
}

/// A broken invariant, as the exhaustive search sees it.
struct SmallFault: Hashable {
  var invariant: MachineInvariant
  var what: String

  init(_ invariant: MachineInvariant, _ what: String) { (self.invariant, self.what) = (invariant, what) }
}
