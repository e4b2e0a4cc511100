import CommandLineTools
import PurchaseSyncTesting

/// How a scenario file is written: the text that `help scenario-file` prints.
package enum ScenarioSchema {
  package static let text = """
    A SCENARIO FILE has one JSON object. Unknown keys are refused.
      name, summary    a name of letters, digits and hyphens, and one line
      description, attacks, proves   for readers; proves is a list
      launches         the launches of the app, in order; after the last one the app
                       is opened again until nothing is left to do
      expects          {"paid": N, "verdicts": {"refunded": N, …}, "owners":
                       {"yours": N, "another": 0 for none, …}, "ofDevices": N,
                       "orders": {"cancelled": N, …}}; nothing may ever be lost,
                       doubled, stuck or granted to another account
      entries          the most entries of the queue (default: 64)
      timeScale        how much faster the clocks go: delays, also of a
                       retryAfter, pass in so much less time (default: 1000)
      seconds          how long a launch that does not end in "use" may make no
                       progress (default: 10); a longer retryAfter is not waited for
      environment      the store: Production (default), Sandbox, or Xcode, where ids
                       begin at zero
      verifiesOverHTTP   true: the backend asks the store at /verifyReceipt
      signsReplies     true: the backend signs its answers, and the engine verifies
                       them
      finishesAtStore  true: the backend finishes at the store what it has granted,
                       and grants what the store's notifications tell of
      makesOrders      true: the device makes an order if the backend does not
      unclaimed        for whom purchases without an owner are: device (default),
                       signedInAccount, or ask

    A LAUNCH
      before           what happens outside of the app before it, see below
      signedIn         the accounts (default: ["alice", "bob"])
      does             what the person does, see below
      extension        what an extension of the app does at the same time
      killed           beforePayment, afterPayment,
                       beforeEnqueue (nothing is written),
                       afterEnqueue (durable, and in the keychain if reinstalled),
                       duringUpload, afterGrant (the backend has granted it),
                       beforeFinish (settled, the store is not told), or
                       againAndAgain (each launch, a little later)
      reinstalled      true: the app is deleted and installed again after it
      granted          how many purchases are granted when it is over, at least
      isVaultLocked    true: the keychain is locked
      phone            the phone (default: "phone"); each has files of its own

    WHAT A PERSON DOES: {"do": WORD, …}
      buy (product, account, quantity)           buyWithoutOrder (product)
      buyPromoted (account)
      signIn (account)            signOut (account)           adopt (account)
      useStoreAccount (storeAccount)   jumpClock (a time, also negative)
      fillDisk                    use (milliseconds)          restore
      dismissSheets (product, account, count)   buyHeardFirst (product, account)
      neverConfirm                goOffline                   goOnline
      tap (count)                 meetPortal (a sign-in page until goOnline)

    WHAT HAPPENS: {"happens": WORD, …}
      faults (rules, see below; no rules end them)   wait (a time)
      boughtOutside (product, storeAccount, count) promoted (product, storeAccount)
      payment (storeAccount, asksToBuy, interruptions)   approved
      refunded (purchase; for a part units or timeLeft)
      refundReversed (purchase)   planChanged (purchase, product)
      renewal (purchase, isOn)    billing (storeAccount, works)
      bundleTokens (on: all, first or none)   bundleLeft (purchase, keeps)
      bundleElsewhere (members, storeAccount)
      seatAssigned (purchase, to, carriesToken)   seatTaken (purchase, from)
      seatsRefunded (purchase, count)   seatsRenewing (purchase, count)
      family (storeAccount, members)   storeAccount (storeAccount)
      consentRescinded (storeAccount)
      delivery (proofs, forgetsToken)  receiptLacks (purchases, readings)
      backendBackedUp   backendRestored   phoneBackedUp   phoneRestored
      damaged (where: page or header)     earlierVersion     phoneCloned (to)
      repeatsTransactions   listsFinished (isOn)

    A RULE OF FAULTS: {"path": "/v1/receipts", "fault": WORD, …}
      path is the beginning of the path: / is everything, /v1 the backend, /store
      the store. A purchase with an order needs the backend before the payment.
      method, bodyContains    conditions      from    the first that fails (1)
      count    how many in a row fail (1); null: all that follow
      dropBeforeCommit, dropAfterCommit, reset     deliverTwice     garbage (body)
      truncate (bytes)   stall, delay (milliseconds)   wrongLength (bytes)
      dribble (bytes, milliseconds)
      respond (status, body, retryAfter: in seconds of those clocks, see timeScale);
      a body that begins with { is JSON

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
