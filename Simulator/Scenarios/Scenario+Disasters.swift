import ScenarioFormat

/// Disks, files, keychains and backends that lose data or cannot be written.
extension Scenario {
  static let disasters: [Scenario] = [
    Scenario(
      name: "disk-full", summary: "a purchase arrives when no file can grow; the next launch has space",
      description:
        "The phone's storage is full when two offer codes are redeemed. Alice frees some, and opens the app.",
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
      description: "The file has unsent receipts when one of its pages is damaged.",
      attacks: "apps that start with an empty list when theirs cannot be read",
      proves: ["invariant 1", "invariant 12"],
      launches: [
        Launch(before: [.outage()], does: [buyGems, buyCoins, .use(milliseconds: 60)]),
        Launch(before: [.damaged("page"), .noFaults]),
      ], expects: .init(paid: 2)),
    Scenario(
      name: "header-corrupted", summary: "the first bytes of the app's file are overwritten",
      description: "The file cannot be recognized as a database any more.",
      attacks: "apps that start with an empty list, or do not start at all",
      proves: ["invariant 1", "invariant 12"],
      launches: [
        Launch(before: [.outage()], does: [buyGems, buyCoins, .use(milliseconds: 60)]),
        Launch(before: [.damaged("header"), .noFaults]),
      ], expects: .init(paid: 2)),
    Scenario(
      name: "update-from-earlier-version",
      summary: "the app is updated, and its file has the first version's schema",
      description:
        "Receipts are unsent when alice updates the app. The new version opens the file of the old one.",
      attacks: "apps that discard their data when its format changes",
      proves: ["invariant 1", "invariant 12"],
      launches: [
        Launch(before: [.outage()], does: [buyGems, buyCoins, .use(milliseconds: 60)]),
        Launch(before: [.earlierVersion, .noFaults]),
      ], expects: .init(paid: 2)),
    Scenario(
      name: "vault-locked",
      summary: "started before the first unlock: the keychain cannot be read or written",
      description: "The phone has restarted and has launched the app while it is locked. A purchase arrives.",
      attacks: "apps that need the keychain to keep a purchase, or take a locked one for an empty one",
      proves: ["R5.5", "invariant 1"],
      launches: [
        Launch(
          before: [.outage()], does: [buyGems, .use(milliseconds: 60)], isVaultLocked: true),
        Launch(before: [.noFaults]),
      ], expects: .init(paid: 1)),
    Scenario(
      name: "backend-loses-data", summary: "the backend is restored from a backup older than a grant",
      description: """
        Alice pays, and the backend is backed up. Then her gems are granted, and the app settles the \
        purchase. The backend loses its disk; the backup does not have the grant. At the next purchase the \
        app learns that, and offers settled purchases again.
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
