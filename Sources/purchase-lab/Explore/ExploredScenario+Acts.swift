import Exploration
import PurchaseSyncTesting
import ScenarioFormat

/// Tells a scenario act by act.
extension ExploredScenario {
  mutating func tell(_ act: Act, _ place: Int, _ now: Int64) {
    if let other = act.phone, other >= 0, other != phone {
      return leaveOut("what happens to another phone")
    }
    switch act {
    case .buy(let buying): buy(buying, place, now)
    case .fault(let fault, _, let milliseconds, let permille):
      begin(fault, permille: permille, until: now + milliseconds)
    case .storageFault(.full, _, _, _):
      close()
      launch.does.append(.fillDisk)
      close()
    case .storageFault(let kind, _, _, _): leaveOut("a storage that \(kind)")
    case .kill: kill()
    case .powerLoss:
      kill()
      leaveOut("that a kill was a power cut")
    case .clock(_, let distance): launch.does.append(.jumpClock(milliseconds: distance))
    case .user(_, let account, let othersStay): use(by: account, othersStay: othersStay)
    case .appleID(_, let storeAccount): use(appleID: storeAccount)
    case .reinstall:
      launch.reinstalled = true
      close()
    case .takeImage: takeImage()
    case .restoreImage: restoreImage()
    case .dismissSheets(_, let product, let count):
      guard user >= 0 else { return }
      launch.does.append(
        .dismissSheets(
          product: product == 0 ? Scenario.gems : Scenario.coins, account: ScenarioCharges.account(user),
          count: count))
    case .neverConfirm: launch.does.append(.neverConfirm)
    case .claim: if user >= 0 { launch.does.append(.adopt(account: ScenarioCharges.account(user))) }
    case .backup: backUp()
    case .restoreBackup: restoreBackup()
    default: tellOfStore(act)
    }
  }

  private mutating func tellOfStore(_ act: Act) {
    switch act {
    case .refund(let purchase): refund(purchase)
    case .reverseRefund: leaveOut("a refund that is undone")
    case .renew(let purchase, let isUpgrade): renew(purchase, isUpgrade: isUpgrade)
    // The store delivers at each launch, which is also in the foreground.
    case .redeliver, .wake:
      close()
      launch.does.append(.use(milliseconds: 1))
    case .restore: launch.does.append(.restore)
    case .resubscribe: leaveOut("a subscription that is bought again")
    case .offerCode:
      happen(.boughtOutside(product: Scenario.gems, storeAccount: Scenario.storeAccount, count: 1))
      leaveOut("which Apple ID redeemed an offer code")
    case .bundle: leaveOut("a bundle of subscriptions")
    case .seat: leaveOut("an assigned seat")
    case .suspend: leaveOut("that the app was in the background")
    case .extensionRuns: launch.extension = [.use(milliseconds: 200)]
    case .other(let name): leaveOut(name)
    default: leaveOut("\(act)")
    }
  }

  private mutating func refund(_ purchase: Int) {
    guard let number = charges.number(of: purchase), charges.refund(purchase) else { return }
    guard charges.isSure else { return leaveOut("a refund behind a renewal") }
    happen(.refunded(purchase: number))
  }

  private mutating func renew(_ purchase: Int, isUpgrade: Bool) {
    guard charges.subscriptions.contains(purchase), let number = charges.number(of: purchase) else { return }
    guard charges.isSure else { return leaveOut("a change of a subscription behind a renewal") }
    if isUpgrade {
      guard charges.subscriptions.remove(purchase) != nil else { return }
      happen(.planChanged(purchase: number, product: "premium.monthly"))
      charges.upgrade()
    } else {
      happen(.wait(milliseconds: 31 * Scenario.day))
      charges.renew()
    }
  }
}

extension Act {
  /// The phone of the act; nil for none, -1 for all.
  fileprivate var phone: Int? {
    switch self {
    case .buy, .refund, .reverseRefund, .renew, .backup, .restoreBackup, .other: nil
    case .fault(_, let phone, _, _), .storageFault(_, let phone, _, _), .kill(let phone, _, _),
      .powerLoss(let phone, _), .clock(let phone, _), .user(let phone, _, _), .appleID(let phone, _),
      .reinstall(let phone), .takeImage(let phone), .restoreImage(let phone), .claim(let phone),
      .restore(let phone), .offerCode(let phone), .bundle(let phone), .seat(let phone),
      .resubscribe(_, let phone),
      .redeliver(let phone),
      .wake(let phone, _), .suspend(let phone, _), .extensionRuns(let phone, _),
      .dismissSheets(let phone, _, _), .neverConfirm(let phone), .fulfilFails(let phone, _):
      phone
    }
  }
}

extension Fault {
  /// The rule of a fault plan; nil if a plan cannot express the fault. A fault that does not strike every time strikes twice.
  func rule(_ permille: Int) -> FaultPlan.Rule? {
    func rule(
      _ fault: FaultPlan.Word, at path: String = Scenario.uploads, milliseconds: Int? = nil,
      status: Int? = nil,
      retryAfter: Int? = nil, body: String? = nil
    ) -> FaultPlan.Rule {
      .init(
        path: path, count: permille >= 1_000 ? nil : 2, fault: fault, milliseconds: milliseconds,
        status: status, retryAfter: retryAfter, body: body)
    }
    switch self {
    case .dropRequest, .offline: return rule(.dropBeforeCommit)
    case .loseReply: return rule(.dropAfterCommit)
    case .duplicate: return rule(.deliverTwice)
    case .delay: return rule(.delay, milliseconds: 100)
    case .stall: return rule(.stall, milliseconds: 100)
    case .captivePortal: return rule(.respond, status: 200, body: "<html>Please sign in.</html>")
    case .serverError: return rule(.respond, status: 500)
    case .busy: return rule(.respond, status: 503, retryAfter: 1)
    case .badRequest: return rule(.respond, status: 400)
    case .unauthorized: return rule(.respond, status: 401)
    case .finishFails: return rule(.respond, at: "/store/finish", status: 503)
    case .finishLost: return rule(.dropAfterCommit, at: "/store/finish")
    case .listingFails: return rule(.respond, at: "/store/unfinished", status: 503)
    default: return nil
    }
  }
}
