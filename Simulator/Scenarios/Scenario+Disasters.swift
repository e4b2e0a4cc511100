/// What holds the data does not hold it any more.
extension Scenario {
  static let disasters: [Scenario] = [
    Scenario(
      name: "disk-full",
      summary: "a purchase arrives when no file can grow; there is room at the next launch",
      story:
        "The phone is full of photographs when two offer codes are redeemed. Alice deletes some, and opens the app.",
      attacks: "apps that finish what they could not write down",
      proves: ["invariant 1", "invariant 13"],
      launches: [
        Launch(does: [.use(milliseconds: 20)]),
        Launch(
          before: [.boughtOutside(product: gems, storeAccount: storeAccount, count: 2), .outage(2)],
          does: [.fillDisk, .use(milliseconds: 60)]), .opened,
      ], expects: .init(paid: 2)),
    Scenario(
      name: "database-corrupted", summary: "a page of the app's file is overwritten between two launches",
      story: "Unsent receipts are in the file when the flash memory gives up a page of it.",
      attacks: "apps whose list cannot be read, and is begun anew",
      proves: ["invariant 1", "invariant 12"],
      launches: [
        Launch(before: [.outage()], does: [buyGems, buyCoins, .use(milliseconds: 60)]),
        Launch(before: [.damaged("page"), .noFaults]),
      ], expects: .init(paid: 2)),
    Scenario(
      name: "header-corrupted", summary: "the first bytes of the app's file are overwritten",
      story: "What is left of the file does not even say what it is.",
      attacks: "apps that begin anew, and forget; apps that never start again",
      proves: ["invariant 1", "invariant 12"],
      launches: [
        Launch(before: [.outage()], does: [buyGems, buyCoins, .use(milliseconds: 60)]),
        Launch(before: [.damaged("header"), .noFaults]),
      ], expects: .init(paid: 2)),
    Scenario(
      name: "update-from-version-1", summary: "the app is updated, and its file is the first version's",
      story: "Receipts are unsent when alice updates the app. The new version finds the old one's file.",
      attacks: "apps that begin anew with each new form of their data",
      proves: ["invariant 1", "invariant 12"],
      launches: [
        Launch(before: [.outage()], does: [buyGems, buyCoins, .use(milliseconds: 60)]),
        Launch(before: [.earlierVersion, .noFaults]),
      ], expects: .init(paid: 2)),
    Scenario(
      name: "vault-locked",
      summary: "started before the first unlock: the keychain cannot be read or written",
      story:
        "The phone has restarted in a pocket and woken the app. A purchase arrives while the keychain is locked.",
      attacks: "apps that need the keychain to keep a purchase, or take a locked one for an empty one",
      proves: ["R5.5", "invariant 1"],
      launches: [
        Launch(
          before: [.outage()], does: [buyGems, .use(milliseconds: 60)], isVaultLocked: true),
        Launch(before: [.noFaults]),
      ], expects: .init(paid: 1)),
    Scenario(
      name: "backend-loses-data", summary: "the backend is restored from a backup older than a grant",
      story: """
        Alice has paid, and a backup of the backend is made. Then her gems are granted, and the phone forgets about \
        them. The disk dies, and the backup knows nothing of the grant. At the next purchase the phone hears of it, and \
        offers what was settled.
        """,
      attacks: "apps that forget what was settled",
      proves: ["R5.1", "invariant 1", "invariant 2"],
      launches: [
        Launch(before: [.outage()], does: [buyGems, .use(milliseconds: 50)]),
        Launch(before: [.backendBackedUp, .noFaults]),
        Launch(before: [.backendRestored], does: [buyCoins]),
      ], expects: .init(paid: 2)),
  ]
}
