extension Act {
  /// What happens, in words.
  package var sentence: String {
    switch self {
    case .buy(let buying): buying.sentence
    case .dismissSheets(let phone, let product, let count):
      on(phone, "\(count) sheets for \(Names.products[product]) are closed")
    case .neverConfirm(let phone): on(phone, "the app confirms no outcome any more")
    case .fulfilFails(let phone, let milliseconds):
      on(phone, "the app's fulfil fails for \(milliseconds / 1_000) s")
    case .fault(let fault, let phone, let milliseconds, let permille):
      (phone < 0 ? "everywhere: " : "phone \(phone + 1): ")
        + "\(fault) for \(milliseconds / 1_000) s, \(permille) of 1000 times"
    case .storageFault(let kind, let phone, let after, let count):
      on(phone, "storage fails (\(kind)) after \(after) writes, \(count) times")
    case .kill(let phone, let effects, _): on(phone, "the app is killed after \(effects) effects")
    case .powerLoss(let phone, _): on(phone, "the power is lost")
    case .clock(let phone, let distance): on(phone, "the clock is set by \(distance / 3_600_000) h")
    case .user(let phone, let account, _):
      on(phone, "\(account < 0 ? "no account" : Names.accounts[account]) uses the app")
    case .appleID(let phone, let account):
      on(phone, "\(Names.storeAccounts[account]) is signed in to the store")
    case .reinstall(let phone): on(phone, "the app is deleted and installed again")
    case .takeImage(let phone): on(phone, "a backup is made")
    case .restoreImage(let phone): on(phone, "the last backup is restored")
    case .claim(let phone): on(phone, "the account adopts the device's purchases")
    default: sentenceOfStore
    }
  }

  private var sentenceOfStore: String {
    switch self {
    case .refund(let place): "the purchase of act \(place) is refunded"
    case .reverseRefund(let place): "the refund of the purchase of act \(place) is undone"
    case .renew(let place, let isUpgrade):
      "the purchase of act \(place) is \(isUpgrade ? "upgraded" : "renewed")"
    case .redeliver(let phone): on(phone, "the store delivers again")
    case .wake(let phone, let reason):
      on(phone, ["to the foreground", "the network is back", "the user asks"][reason])
    case .suspend(let phone, let milliseconds):
      on(phone, "in the background for \(milliseconds / 1_000) s")
    case .extensionRuns(let phone, let milliseconds):
      on(phone, "the extension runs for \(milliseconds / 1_000) s")
    case .backup: "the backend is backed up"
    case .restoreBackup: "the backend is restored from its backup"
    case .restore(let phone): on(phone, "purchases are restored")
    case .resubscribe(let place, let phone): on(phone, "the subscription of act \(place) is bought again")
    case .offerCode(let phone): on(phone, "an offer code is redeemed")
    case .bundle(let phone): on(phone, "a bundle is bought")
    case .seat(let phone): on(phone, "a seat is assigned that another account has paid")
    case .other(let name): name
    default: "\(self)"
    }
  }

  private func on(_ phone: Int, _ what: String) -> String { "phone \(phone + 1): \(what)" }
}

extension Buying {
  fileprivate var sentence: String {
    var words = "phone \(phone + 1): buys \(Names.products[product])"
    if !hasOrder { words += " without an order" }
    if isCancelled { words += ", the sheet says cancelled" }
    if waits > 0 { words += ", charged after \(waits / 1_000) s" }
    if waits < 0 { words += ", never charged" }
    switch poison {
    case .none: break
    case .crashes: words += "; the backend crashes on it"
    case .rejected: words += "; the backend rejects it"
    case .unanswered: words += "; the backend does not answer about it"
    }
    return words
  }
}
