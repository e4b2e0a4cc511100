import PurchaseSyncTesting

/// How a scenario file is written: the text that `help scenario-file` prints.
enum ScenarioSchema {
  static let text = """
    A SCENARIO FILE has one JSON object. Unknown keys are refused.
      name, summary    a name of letters, digits and hyphens, and one line
      description, attacks, proves   for readers; proves is a list
      launches         the launches of the app, in order; after the last one the app
                       is opened again until nothing is left to do
      expects          {"paid": N, "verdicts": {"refunded": N, …}}; nothing may ever
                       be lost, doubled, stuck or granted to another account
      entries          the most entries of the queue (default: 64)
      timeScale        how much faster retry delays are (default: 1000)
      seconds          how long the last launch may make no progress (default: 10)
      isSandbox, verifiesOverHTTP   true or false

    A LAUNCH
      before           what happens outside of the app before it, see below
      signedIn         the accounts (default: ["alice", "bob"])
      does             what the person does, see below
      extension        what an extension of the app does at the same time
      killed           beforePayment, afterPayment, beforeEnqueue, afterEnqueue,
                       duringUpload, afterGrant, beforeFinish or againAndAgain
      reinstalled      true: the app is deleted and installed again after it
      granted          how many purchases are granted when it is over, at least
      isVaultLocked    true: the keychain is locked

    WHAT A PERSON DOES: {"do": WORD, …}
      buy (product, account)      buyWithoutOrder (product)   buyPromoted (account)
      signIn (account)            signOut (account)           adopt (account)
      useStoreAccount (storeAccount)   jumpClock (a time, also negative)
      fillDisk                    use (milliseconds)

    WHAT HAPPENS: {"happens": WORD, …}
      faults (rules, as in serve --faults)         wait (a time)
      boughtOutside (product, storeAccount, count) promoted (product, storeAccount)
      payment (storeAccount, asksToBuy, interruptions)   approved
      refunded (purchase)         planChanged (purchase, product)
      renewal (purchase, isOn)    billing (storeAccount, works)
      family (storeAccount, members)   storeAccount (storeAccount)
      delivery (proofs, forgetsToken)  receiptLacks (purchases, readings)
      backendBackedUp   backendRestored   phoneBackedUp   phoneRestored
      damaged (where: page or header)     earlierVersion

    A TIME is one of days, hours, minutes, seconds, milliseconds. A PURCHASE is the
    number of a charge; the first is 1. PRODUCTS:
    \(products)

    EXAMPLES
      purchase-simulator scenarios --show reinstall > mine.json
      purchase-simulator run mine.json
    """

  private static var products: String {
    WrappedText.lines(ServedProducts.all.map(\.id).joined(separator: " "), width: 76)
      .joined(separator: "\n")
  }
}
