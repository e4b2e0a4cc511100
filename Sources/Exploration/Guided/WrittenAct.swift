/// An act as an input's file has it: flat, and without what is usual.
struct WrittenAct: Codable {
  var at: Int64
  var act: String
  var phone: Int?
  var purchase: Int?
  var product: Int?
  var account: Int?
  var count: Int?
  var after: Int?
  var milliseconds: Int64?
  var permille: Int?
  var fault: String?
  var reason: Int?
  var othersStay: Bool?
  var withoutOrder: Bool?
  var forgetsToken: Bool?
  var isCancelled: Bool?
  var isUpgrade: Bool?
  var proofs: String?
  var poison: String?

  init(_ planned: PlannedAct) {
    (at, act) = (planned.at, planned.act.name)
    phone = planned.act.phone
    purchase = planned.act.purchase
    switch planned.act {
    case .buy(let buying): write(buying)
    case .dismissSheets(_, let product, let count): (self.product, self.count) = (product, count)
    case .fault(let fault, _, let milliseconds, let permille):
      (self.fault, self.milliseconds, self.permille) = ("\(fault)", milliseconds, permille)
    case .storageFault(let fault, _, let after, let count):
      (self.fault, self.after, self.count) = ("\(fault)", after, count)
    case .kill(_, let effects, let downFor): (after, milliseconds) = (effects, downFor)
    case .powerLoss(_, let milliseconds), .clock(_, let milliseconds), .suspend(_, let milliseconds),
      .extensionRuns(_, let milliseconds), .fulfilFails(_, let milliseconds):
      self.milliseconds = milliseconds
    case .user(_, let account, let stay): (self.account, othersStay) = (account, stay ? true : nil)
    case .appleID(_, let account): self.account = account
    case .renew(_, let isUpgrade): self.isUpgrade = isUpgrade ? true : nil
    case .wake(_, let reason): self.reason = reason
    default: break
    }
  }

  private mutating func write(_ buying: Buying) {
    product = buying.product
    withoutOrder = buying.hasOrder ? nil : true
    forgetsToken = buying.forgetsToken ? true : nil
    isCancelled = buying.isCancelled ? true : nil
    proofs = buying.proofs == .signed ? nil : "\(buying.proofs)"
    poison = buying.poison == .none ? nil : "\(buying.poison)"
    milliseconds = buying.waits == 0 ? nil : buying.waits
  }

  // MARK: Reading

  /// The act; nil if it is none of a run with these sizes.
  func planned(_ knobs: MachineKnobs) -> PlannedAct? {
    guard let act = read(), at >= -1, at < knobs.length else { return nil }
    if let phone = act.phone {
      let isOfAll = if case .fault = act { phone == -1 } else { false }
      guard isOfAll || (0..<knobs.phones).contains(phone) else { return nil }
    }
    switch act {
    case .user(_, let account, _): guard (-1..<knobs.accounts).contains(account) else { return nil }
    case .appleID(_, let account): guard (0..<knobs.storeAccounts).contains(account) else { return nil }
    case .buy(let buying): guard (0...2).contains(buying.product) else { return nil }
    case .dismissSheets(_, let product, let count):
      guard (0...2).contains(product), (0...100).contains(count) else { return nil }
    case .wake(_, let reason): guard (0...2).contains(reason) else { return nil }
    default: break
    }
    return PlannedAct(at: at, act: act)
  }

  private func read() -> Act? {
    let (phone, milliseconds) = (phone ?? 0, milliseconds ?? 0)
    switch act {
    case "buy": return buying(phone, milliseconds)
    case "dismissSheets": return .dismissSheets(phone: phone, product: product ?? 0, count: count ?? 1)
    case "neverConfirm": return .neverConfirm(phone: phone)
    case "fulfilFails": return .fulfilFails(phone: phone, milliseconds: milliseconds)
    case "fault":
      guard let fault = Fault.allCases.first(where: { "\($0)" == fault }) else { return nil }
      return .fault(fault, phone: phone, milliseconds: max(1, milliseconds), permille: permille ?? 1_000)
    case "storageFault":
      guard let fault = StorageFault.allCases.first(where: { "\($0)" == fault }) else { return nil }
      return .storageFault(fault, phone: phone, after: after ?? 0, count: count ?? 1)
    case "kill": return .kill(phone: phone, effects: after ?? 0, downFor: milliseconds)
    case "powerLoss": return .powerLoss(phone: phone, downFor: milliseconds)
    case "clock": return .clock(phone: phone, by: milliseconds)
    case "user": return .user(phone: phone, account: account ?? -1, othersStay: othersStay ?? false)
    case "appleID": return .appleID(phone: phone, storeAccount: account ?? 0)
    case "reinstall": return .reinstall(phone: phone)
    case "takeImage": return .takeImage(phone: phone)
    case "restoreImage": return .restoreImage(phone: phone)
    case "claim": return .claim(phone: phone)
    case "redeliver": return .redeliver(phone: phone)
    case "wake": return .wake(phone: phone, reason: reason ?? 0)
    case "suspend": return .suspend(phone: phone, milliseconds: milliseconds)
    case "extension": return .extensionRuns(phone: phone, milliseconds: milliseconds)
    case "restore": return .restore(phone: phone)
    case "offerCode": return .offerCode(phone: phone)
    case "bundle": return .bundle(phone: phone)
    case "seat": return .seat(phone: phone)
    case "backup": return .backup
    case "restoreBackup": return .restoreBackup
    default: return about(purchase, phone)
    }
  }

  private func about(_ purchase: Int?, _ phone: Int) -> Act? {
    guard let purchase else { return nil }
    switch act {
    case "refund": return .refund(purchase: purchase)
    case "reverseRefund": return .reverseRefund(purchase: purchase)
    case "renew": return .renew(purchase: purchase, isUpgrade: isUpgrade ?? false)
    case "resubscribe": return .resubscribe(purchase: purchase, phone: phone)
    default: return nil
    }
  }

  private func buying(_ phone: Int, _ waits: Int64) -> Act? {
    let mixes: [Buying.ProofMix] = [.signed, .receipt, .both]
    let poisons: [Buying.Poison] = [.none, .crashes, .rejected, .unanswered]
    guard let mix = mixes.first(where: { "\($0)" == proofs ?? "signed" }),
      let poison = poisons.first(where: { "\($0)" == poison ?? "none" })
    else { return nil }
    var buying = Buying(
      phone: phone, product: product ?? 0, hasOrder: withoutOrder != true,
      forgetsToken: forgetsToken ?? false, proofs: mix, waits: waits, poison: poison)
    buying.isCancelled = isCancelled ?? false
    return .buy(buying)
  }
}

extension Act {
  /// Its name in a file.
  var name: String {
    switch self {
    case .buy: "buy"
    case .dismissSheets: "dismissSheets"
    case .neverConfirm: "neverConfirm"
    case .fulfilFails: "fulfilFails"
    case .fault: "fault"
    case .storageFault: "storageFault"
    case .kill: "kill"
    case .powerLoss: "powerLoss"
    case .clock: "clock"
    case .user: "user"
    case .appleID: "appleID"
    case .reinstall: "reinstall"
    case .takeImage: "takeImage"
    case .restoreImage: "restoreImage"
    case .claim: "claim"
    case .refund: "refund"
    case .reverseRefund: "reverseRefund"
    case .renew: "renew"
    case .redeliver: "redeliver"
    case .wake: "wake"
    case .suspend: "suspend"
    case .extensionRuns: "extension"
    case .backup: "backup"
    case .restoreBackup: "restoreBackup"
    case .restore: "restore"
    case .resubscribe: "resubscribe"
    case .offerCode: "offerCode"
    case .bundle: "bundle"
    case .seat: "seat"
    case .other(let name): name
    }
  }
}
