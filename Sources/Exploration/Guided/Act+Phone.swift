extension Act {
  /// The phone on which it happens; nil for an act elsewhere.
  var phone: Int? {
    switch self {
    case .buy(let buying): buying.phone
    case .dismissSheets(let phone, _, _), .neverConfirm(let phone), .fault(_, let phone, _, _),
      .storageFault(_, let phone, _, _), .kill(let phone, _, _), .powerLoss(let phone, _),
      .clock(let phone, _), .user(let phone, _, _), .appleID(let phone, _), .reinstall(let phone),
      .takeImage(let phone), .restoreImage(let phone), .claim(let phone), .redeliver(let phone),
      .wake(let phone, _), .suspend(let phone, _), .extensionRuns(let phone, _), .restore(let phone),
      .resubscribe(_, let phone), .offerCode(let phone), .fulfilFails(let phone, _), .bundle(let phone),
      .seat(let phone):
      phone
    case .refund, .reverseRefund, .renew, .backup, .restoreBackup, .other: nil
    }
  }

  /// The same on another phone.
  func on(_ phone: Int) -> Act {
    switch self {
    case .buy(var buying):
      buying.phone = phone
      return .buy(buying)
    case .dismissSheets(_, let product, let count):
      return .dismissSheets(phone: phone, product: product, count: count)
    case .neverConfirm: return .neverConfirm(phone: phone)
    case .fulfilFails(_, let milliseconds):
      return .fulfilFails(phone: phone, milliseconds: milliseconds)
    case .fault(let fault, _, let milliseconds, let permille):
      return .fault(fault, phone: phone, milliseconds: milliseconds, permille: permille)
    case .storageFault(let fault, _, let after, let count):
      return .storageFault(fault, phone: phone, after: after, count: count)
    case .kill(_, let effects, let downFor): return .kill(phone: phone, effects: effects, downFor: downFor)
    case .powerLoss(_, let downFor): return .powerLoss(phone: phone, downFor: downFor)
    case .clock(_, let distance): return .clock(phone: phone, by: distance)
    case .user(_, let account, let othersStay):
      return .user(phone: phone, account: account, othersStay: othersStay)
    case .appleID(_, let storeAccount): return .appleID(phone: phone, storeAccount: storeAccount)
    case .reinstall: return .reinstall(phone: phone)
    case .takeImage: return .takeImage(phone: phone)
    case .restoreImage: return .restoreImage(phone: phone)
    case .claim: return .claim(phone: phone)
    case .redeliver: return .redeliver(phone: phone)
    case .wake(_, let reason): return .wake(phone: phone, reason: reason)
    case .suspend(_, let milliseconds): return .suspend(phone: phone, milliseconds: milliseconds)
    case .extensionRuns(_, let milliseconds):
      return .extensionRuns(phone: phone, milliseconds: milliseconds)
    case .restore: return .restore(phone: phone)
    case .resubscribe(let purchase, _): return .resubscribe(purchase: purchase, phone: phone)
    case .offerCode: return .offerCode(phone: phone)
    case .bundle: return .bundle(phone: phone)
    case .seat: return .seat(phone: phone)
    case .refund, .reverseRefund, .renew, .backup, .restoreBackup, .other: return self
    }
  }

  /// Its kind, for counting.
  var number: Int {
    switch self {
    case .buy: 0
    case .dismissSheets: 1
    case .neverConfirm: 2
    case .fault: 3
    case .storageFault: 4
    case .kill: 5
    case .powerLoss: 6
    case .clock(_, let distance): distance < 0 ? 7 : 8
    case .user: 9
    case .appleID: 10
    case .reinstall: 11
    case .takeImage: 12
    case .restoreImage: 13
    case .claim: 14
    case .redeliver: 15
    case .wake(_, let reason): 16 + reason
    case .suspend: 19
    case .extensionRuns: 20
    case .restore: 21
    case .resubscribe: 22
    case .offerCode: 23
    case .refund: 24
    case .reverseRefund: 25
    case .renew(_, let isUpgrade): isUpgrade ? 26 : 27
    case .backup: 28
    case .restoreBackup: 29
    case .other: 30
    case .fulfilFails: 31
    case .bundle: 32
    case .seat: 33
    }
  }
}
