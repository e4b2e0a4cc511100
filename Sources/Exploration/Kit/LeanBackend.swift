import AppStoreReceipts
import PurchaseSync

/// The backend in numbers: orders, the ledger and known tokens. It has the rules of `BackendModel`; a test compares the
/// two.
struct LeanBackend {
  /// An uploader or the owner of a credit: a device (below 0) or an account.
  typealias Owner = Int

  static func device(_ phone: Int) -> Owner { -1 - phone }

  struct LeanOrder {
    var account: Int
    var product: Int
    var createdAt: Int64
    var fulfilledBy: Int?
  }

  /// One line of the ledger. The ledger accepts a transaction twice: an invariant checks that it never happens.
  struct LeanCredit: Equatable {
    var sale: Int
    var order: Int?
    var owner: Owner
    /// Whether its order was only proposed.
    var isGuess: Bool
  }

  struct DeviceAdoption {
    var phone: Int
    var account: Int
    var credits: Int
    var at: Int64
  }

  private(set) var orders: [LeanOrder] = []
  var credits: [LeanCredit] = []
  private(set) var adoptions: [DeviceAdoption] = []
  /// By transaction: its first credit, and how many.
  private(set) var creditOf: [Int32] = []
  private var creditCount: [UInt8] = []
  /// By transaction: how many units a refund has taken back, and how many the store said last.
  private(set) var takenBack: [UInt8] = []
  private var saidRefunded: [UInt8] = []
  /// Transactions whose token a proof has shown.
  private(set) var knowsToken: [Bool] = []
  /// Transactions that a claim has made known.
  private(set) var isKnown: [Bool] = []
  private(set) var epoch = 0
  /// Each account has one token, and all its orders have it.
  var hasAccountTokens = false
  /// A planted bug.
  var forgetsTransactions = false

  /// A planted bug in the rule of ownership.
  enum Flaw {
    /// The original's owner gets every later transaction, whatever its token says.
    case inheritsDespiteToken
    /// The account that is signed in on a device does not count.
    case ignoresSignedIn
    /// A verdict names the order of another account's purchase.
    case namesOrders
    /// The account that is signed in gets what the device uploads.
    case creditsSignedIn
    /// A claim without a proof is granted as one with a proof.
    case believesIDs
    /// The token of an account is that of its first order.
    case takesFirstOfToken
    /// A later share of a refund is taken in addition to the earlier one.
    case addsRefunds
    /// The payment of a bundle counts as one purchase.
    case creditsBundleOnce
    /// The token of an assigned seat counts as that of who has it.
    case takesTokensOfSeats
  }
  var flaw: Flaw?
  /// Whether a bug is planted in it now.
  var isFlawed: Bool { flaw != nil || forgetsTransactions }

  // MARK: Orders

  mutating func makeOrder(account: Int, product: Int, at now: Int64) -> Int {
    orders.append(LeanOrder(account: account, product: product, createdAt: now))
    return orders.count - 1
  }

  // MARK: The ledger

  private mutating func grow(for sale: Int) {
    while creditOf.count <= sale {
      creditOf.append(-1)
      creditCount.append(0)
      takenBack.append(0)
      saidRefunded.append(0)
      knowsToken.append(false)
      isKnown.append(false)
    }
  }

  func count(of sale: Int) -> Int { sale < creditCount.count ? Int(creditCount[sale]) : 0 }

  func credit(of sale: Int) -> LeanCredit? {
    sale < creditOf.count && creditOf[sale] >= 0 ? credits[Int(creditOf[sale])] : nil
  }

  private mutating func credit(_ sale: Int, to owner: Owner, order: Int?, isGuess: Bool) {
    if creditOf[sale] < 0 { creditOf[sale] = Int32(credits.count) }
    creditCount[sale] += 1
    credits.append(LeanCredit(sale: sale, order: order, owner: owner, isGuess: isGuess))
    if let order { orders[order].fulfilledBy = sale }
  }

  /// The present owner of a credit: the account that first adopted the device owns the device's credits.
  func owner(of credit: LeanCredit, _ store: LeanStore) -> Owner {
    guard credit.owner < 0 else { return credit.owner }
    for adoption in adoptions where Self.device(adoption.phone) == credit.owner {
      if store.sales[credit.sale].paidAt < adoption.at { return adoption.account }
      if let position = position(of: credit), position < adoption.credits { return adoption.account }
    }
    return credit.owner
  }

  private func position(of credit: LeanCredit) -> Int? {
    creditOf[credit.sale] >= 0 ? Int(creditOf[credit.sale]) : nil
  }

  mutating func adoptDevice(_ phone: Int, for account: Int, at now: Int64) {
    adoptions.append(DeviceAdoption(phone: phone, account: account, credits: credits.count, at: now))
  }

  // MARK: Verdicts

  /// The answer about one claim.
  struct Answer: Equatable {
    var ruling: Ruling
    var order: Int?
    /// Whose purchase it is, for the device; nil if nothing is settled.
    var owner: PurchaseOwner?
  }

  /// Rules on one claim about one genuine transaction, and says whose it is. `signedIn` is the account that is signed in
  /// on the device of a device's upload; -1 for none.
  mutating func answer(
    on claim: LeanClaim, tokenIsTold: Bool, isProven: Bool, from uploader: Owner, signedIn: Int,
    _ store: LeanStore, at now: Int64
  ) -> Answer {
    let before = credit(of: claim.sale).map { self.owner(of: $0, store) }
    let signedIn = flaw == .ignoresSignedIn ? -1 : signedIn
    let uploader = flaw == .creditsSignedIn && uploader < 0 && signedIn >= 0 ? signedIn : uploader
    let (ruling, order) = rule(
      on: claim, tokenIsTold: tokenIsTold, isProven: isProven, from: uploader, store, at: now)
    guard ruling.isSettled else { return Answer(ruling: ruling, order: order) }
    let owner =
      credit(of: claim.sale).map { self.owner(of: $0, store) }
      ?? heir(of: claim, uploader, store)
    var answer = Answer(ruling: ruling, order: order, owner: .another)
    if owner == uploader { answer.owner = uploader < 0 ? .device : .yours }
    if uploader < 0, owner >= 0, owner == signedIn { answer.owner = .yours }
    if answer.owner == .another {
      if ruling == .granted || ruling == .duplicate { answer.ruling = .otherOwner }
      // A device proposes the orders that were made on it. An account only guesses.
      if let order, uploader >= 0 || !claim.match.names(order), flaw != .namesOrders { answer.order = nil }
    } else if ruling == .otherOwner {
      answer.ruling = owner == before ? .duplicate : .granted
    }
    return answer
  }

  /// The owner that a transaction without a credit would have.
  private func heir(of claim: LeanClaim, _ uploader: Owner, _ store: LeanStore) -> Owner {
    let sale = store.sales[claim.sale]
    let owner = destination(of: claim, sale, from: uploader, store).owner
    return adoptions.first { Self.device($0.phone) == owner && sale.paidAt < $0.at }?.account ?? owner
  }

  /// Whether the store's record names the owner of what is over (`BackendModel.withoutProof`).
  private func isRecorded(_ claim: LeanClaim, _ uploader: Owner, _ store: LeanStore) -> Bool {
    guard let present = credit(of: claim.sale).map({ owner(of: $0, store) }) else {
      return heir(of: claim, uploader, store) == recordedOwner(claim.sale, store)
    }
    // Another phone can restore a subscription.
    return present >= 0 || store.sales[claim.sale].expiresAt == nil || present == uploader
  }

  /// The rules for one claim about one genuine transaction, in order of precedence.
  mutating func rule(
    on claim: LeanClaim, tokenIsTold: Bool, isProven: Bool, from uploader: Owner, _ store: LeanStore,
    at now: Int64
  ) -> (ruling: Ruling, order: Int?) {
    grow(for: claim.sale)
    let sale = store.sales[claim.sale]
    isKnown[claim.sale] = true
    if tokenIsTold, sale.order >= 0 { knowsToken[claim.sale] = true }
    learnRefund(of: claim.sale, sale)
    let needsProof = !isProven && flaw != .believesIDs
    if sale.isTakenBack {
      return needsProof && !isRecorded(claim, uploader, store)
        ? (.unknown, nil) : (.refunded, credit(of: claim.sale)?.order)
    }
    var result = rulePaid(claim, sale, needsProof: needsProof, from: uploader, store, at: now)
    // The units that are left were paid, and the verdict says that the others were not.
    if sale.revokedAt != nil, result.ruling.isSettled, result.ruling != .lapsed { result.ruling = .refunded }
    return result
  }

  private mutating func rulePaid(
    _ claim: LeanClaim, _ sale: LeanStore.Sale, needsProof: Bool, from uploader: Owner, _ store: LeanStore,
    at now: Int64
  ) -> (ruling: Ruling, order: Int?) {
    let credited = credit(of: claim.sale)
    if !forgetsTransactions, let moved = moved(claim.sale, uploader, needsProof: needsProof, store) {
      return moved
    }
    if let credited, !forgetsTransactions {
      let isUploaders = credited.owner == uploader || owner(of: credited, store) == uploader
      return (isUploaders ? .duplicate : .otherOwner, credited.order)
    }
    if let end = sale.expiresAt, end <= now {
      return (needsProof && !isRecorded(claim, uploader, store) ? .unknown : .lapsed, nil)
    }
    let (owner, order) = destination(of: claim, sale, from: uploader, store)
    if needsProof, owner != recordedOwner(claim.sale, store) { return (.unknown, nil) }
    if flaw == .creditsBundleOnce, store.siblings(of: claim.sale).contains(where: { count(of: $0) > 0 }) {
      return (.duplicate, nil)
    }
    var isGuess = false
    if case .proposed = claim.match { isGuess = !knowsToken[claim.sale] }
    credit(claim.sale, to: owner, order: order, isGuess: isGuess)
    if let line = credit(of: claim.sale) { moveSiblings(of: line, store) }
    return (owner == uploader ? .granted : .otherOwner, order)
  }

  /// The share of a refund covers the earlier ones: it takes their place.
  private mutating func learnRefund(of number: Int, _ sale: LeanStore.Sale) {
    let said = UInt8(sale.refundedUnits)
    let adds = flaw == .addsRefunds && said > saidRefunded[number]
    takenBack[number] = min(UInt8(sale.units), adds ? takenBack[number] + said : said)
    saidRefunded[number] = said
  }

  /// A ledger line that was written before its owner was known gets its owner (`BackendModel.moved`); nil if it stays.
  private mutating func moved(
    _ sale: Int, _ uploader: Owner, needsProof: Bool, _ store: LeanStore
  ) -> (ruling: Ruling, order: Int?)? {
    guard let credited = credit(of: sale) else { return nil }
    let sold = store.sales[sale]
    let present = owner(of: credited, store)
    let line = Int(creditOf[sale])
    guard knowsToken[sale] else {
      guard let next = heir(sold, credited, present, provenBy: uploader, store), present != next else {
        return nil
      }
      if needsProof, next != recordedOwner(sale, store) { return (.unknown, nil) }
      move(line, to: next)
      moveSiblings(of: credits[line], store)
      guard next == uploader else { return (.otherOwner, nil) }
      return (uploader < 0 ? .duplicate : .granted, nil)
    }
    let number = payable(sold, .none) ?? sold.order
    let order = orders[number]
    guard credited.order == nil || present != order.account else { return nil }
    guard order.product == sold.product, flaw != .inheritsDespiteToken else { return nil }
    let fulfils =
      order.fulfilledBy == nil && !sold.isRenewal && !hasPaid(orderOf: order.account, byBundleOf: sale, store)
    guard present != order.account || fulfils else { return nil }
    move(line, to: order.account)
    if fulfils { (credits[line].order, orders[number].fulfilledBy) = (number, sale) }
    moveSiblings(of: credits[line], store)
    guard order.account == uploader else { return (.otherOwner, credits[line].order) }
    return (present == uploader ? .duplicate : .granted, credits[line].order)
  }

  /// Gives a line to its payer, without an order: the one that it fulfilled was a guess, and waits again.
  mutating func move(_ line: Int, to owner: Owner) {
    if let guessed = credits[line].order { orders[guessed].fulfilledBy = nil }
    (credits[line].owner, credits[line].order) = (owner, nil)
  }

  private func destination(
    of claim: LeanClaim, _ sale: LeanStore.Sale, from uploader: Owner, _ store: LeanStore
  ) -> (owner: Owner, order: Int?) {
    let found = claimed(claim, sale, from: uploader, store)
    return sale.bundle < 0 ? found : inBundle(found, of: claim, store)
  }

  private func claimed(
    _ claim: LeanClaim, _ sale: LeanStore.Sale, from uploader: Owner, _ store: LeanStore
  ) -> (owner: Owner, order: Int?) {
    if sale.original != claim.sale {
      if knowsToken[claim.sale], flaw != .inheritsDespiteToken { return later(sale) }
      return (inherited(claim.sale, store) ?? uploader, nil)
    }
    // Whatever the claim says: who has the seat has paid nothing.
    if let named = sale.seat {
      return flaw == .takesTokensOfSeats && named >= 0 ? fulfilled(named) : (uploader, nil)
    }
    // The account gets what was paid, also if its order is for another product.
    if knowsToken[claim.sale] { return (orders[sale.order].account, payable(sale, claim.match)) }
    switch claim.match {
    case .bound(let number):
      guard orders.indices.contains(number), orders[number].product == sale.product else {
        return (uploader, nil)
      }
      return fulfilled(number)
    case .proposed(let candidates): return proposed(candidates, sale, from: uploader)
    case .none: return (uploader, nil)
    }
  }

  private func fulfilled(_ number: Int) -> (Owner, Int?) {
    (orders[number].account, orders[number].fulfilledBy == nil || forgetsTransactions ? number : nil)
  }

  private func proposed(
    _ candidates: [Int], _ sale: LeanStore.Sale, from uploader: Owner
  ) -> (Owner, Int?) {
    let fitting = candidates.filter { number in
      guard orders.indices.contains(number), orders[number].fulfilledBy == nil else { return false }
      let order = orders[number]
      guard order.product == sale.product, uploader < 0 || uploader == order.account else { return false }
      return sale.paidAt >= order.createdAt - order.createdAt % 1_000
    }
    guard let first = fitting.first else { return (uploader, nil) }
    guard fitting.allSatisfy({ orders[$0].account == orders[first].account }) else {
      return (uploader, nil)
    }
    return (orders[first].account, first)
  }

  /// A later transaction of a chain belongs to the account of its token's order, and fulfils the order if it was bought.
  private func later(_ sale: LeanStore.Sale) -> (Owner, Int?) {
    (orders[sale.order].account, sale.isRenewal ? nil : payable(sale, .none))
  }

  /// The order of its token that a sale pays for. If several have the token, the one that the claim names, or else the
  /// latest that was made before the payment.
  private func payable(_ sale: LeanStore.Sale, _ match: LeanClaim.Match) -> Int? {
    func isPayable(_ number: Int) -> Bool {
      let isFree = orders[number].fulfilledBy == nil || forgetsTransactions
      return isFree && orders[number].product == sale.product
    }
    guard hasAccountTokens else { return isPayable(sale.order) ? sale.order : nil }
    let account = orders[sale.order].account
    let named = orders.indices.filter { orders[$0].account == account && orders[$0].product == sale.product }
    if flaw == .takesFirstOfToken { return named.first }
    let free = named.filter(isPayable)
    // One order with the token is paid, whenever it was made.
    guard orders.count(where: { $0.account == account }) > 1 else { return free.first }
    return match.numbers.first(where: free.contains)
      ?? free.last { sale.paidAt >= orders[$0].createdAt - orders[$0].createdAt % 1_000 }
  }

  /// The owner whom the store's record names: the account of its token's order, or the owner of its subscription.
  private func recordedOwner(_ sale: Int, _ store: LeanStore) -> Owner? {
    knowsToken[sale]
      ? orders[store.sales[sale].order].account : inherited(sale, store) ?? payer(sale, store)
  }

  /// The owner of the nearest earlier period owns a renewal without a token, else the owner of any period.
  private func inherited(_ number: Int, _ store: LeanStore) -> Owner? {
    guard !isApart(number, store) else { return nil }
    var first: Owner?
    var nearest: Owner?
    for other in store.sales.indices where store.sales[other].original == store.sales[number].original {
      guard let known = credit(of: other), !isApart(other, store) else { continue }
      first = first ?? owner(of: known, store)
      if other < number { nearest = owner(of: known, store) }
    }
    return nearest ?? first
  }

  // MARK: Backups

  /// Grants since the backup are lost. Orders are not: another system keeps them.
  mutating func restore(credits count: Int, epoch: Int) {
    for credit in credits[count...] {
      creditOf[credit.sale] = -1
      creditCount[credit.sale] = 0
      if let order = credit.order, orders[order].fulfilledBy == credit.sale {
        orders[order].fulfilledBy = nil
      }
    }
    credits.removeLast(credits.count - count)
    for index in adoptions.indices { adoptions[index].credits = min(adoptions[index].credits, count) }
    self.epoch = epoch
  }
}
