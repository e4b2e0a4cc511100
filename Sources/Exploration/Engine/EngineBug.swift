/// A bug that only a real, asynchronous engine can have, planted around it: in its transport, its store, its sleep, its
/// checkpoints or its app.
package enum EngineBug: String, PlantedBug {
  // MARK: Sleep and threads
  case timerNeverRings, sleepIgnoresCancellation, workIsLost
  // MARK: The transport
  case sentTwice, retryAfterSwallowed, answeredFromCache, finishBeforeTheReply, ownerDropped,
    userNotNamed, restoredForAnyone
  // MARK: The lease
  case leaseFreedEarly, leaseKept
  // MARK: The app around the engine
  case wrongAccountAfterAwait, finishInADefer, outcomeToldEarly, confirmedForTheApp, streamNeverEnds
  case wakeForgotten, ceilingOfAShift
  // MARK: Paces
  case retriesAtOnce, probesWithoutEnd, listsWithoutEnd, asksForTokens, tellsUntilConfirmed
  // MARK: The store's list
  case firstProofListed, seatsPaid
  // MARK: The vault
  case vaultMovesAlong
  // MARK: The backend
  case idsBelieved, refundsAddUp, bundleCountsOnce, seatsByToken
  // MARK: Orders
  case ownedWithoutOrder, cancelledIsUnpaid, oneKeyForAll, deviceOrderNotSent

  package var summary: String {
    switch self {
    case .timerNeverRings: "a timer that replaces another one is lost, and its lane is never woken"
    case .sleepIgnoresCancellation: "a sleep goes on when its task is cancelled"
    case .workIsLost: "work for another thread is sometimes dropped"
    case .sentTwice: "the transport sends a second request when the first one is slow"
    case .retryAfterSwallowed: "a wrapper of the transport drops Retry-After"
    case .answeredFromCache: "a cache answers an upload with the reply to an earlier one"
    case .ownerDropped: "a proxy of the reply passes on only the fields that it knows, and not the owner"
    case .userNotNamed: "the uploads of the device do not name the account that uses the phone"
    case .restoredForAnyone:
      "all that a new phone restores is told to be the account's that is signed in there"
    case .wakeForgotten: "the app does not say that the network is back, or that it comes to the front"
    case .ceilingOfAShift: "the longest wait between two attempts is eight hours"
    case .retriesAtOnce: "a wrapper of the transport repeats a failed upload at once"
    case .probesWithoutEnd:
      "a wrapper of the transport asks the backend ten times a second whether it is well"
    case .listsWithoutEnd: "a wrapper of the store lists it until the list is empty"
    case .firstProofListed: "a wrapper of the store gives the first proof of each transaction for ever"
    case .asksForTokens:
      "a wrapper of the transport asks for a newer token before each attempt, until there is one"
    case .tellsUntilConfirmed: "the app is given an outcome again and again until it has confirmed it"
    case .vaultMovesAlong: "a backup takes the vault, with the device's name, to the next phone"
    case .finishBeforeTheReply: "the transaction is finished during its upload, before the reply"
    case .leaseFreedEarly: "a lane's lock is removed when its upload is sent, before the reply"
    case .leaseKept: "a lane's lock is taken again after its reply, and never released"
    case .wrongAccountAfterAwait: "the account is read after a wait, when another one has signed in"
    case .finishInADefer: "the app finishes a transaction whether or not the engine took it"
    case .outcomeToldEarly: "the app hears of a reply before it is committed"
    case .confirmedForTheApp: "an outcome is confirmed when it is delivered, not when the app has seen it"
    case .idsBelieved: "the backend grants a claim without a proof by its id"
    case .bundleCountsOnce: "the payment of a bundle counts as one purchase, which its first subscription is"
    case .seatsByToken: "the backend takes the token of an assigned seat for that of who has it"
    case .seatsPaid:
      "a wrapper of the store drops the ownership, so the token of an assigned seat binds an order of its purchaser"
    case .refundsAddUp: "a later share of a refund is taken in addition to the earlier one"
    case .ownedWithoutOrder:
      "a transaction that the store repeats is handed over without the order that it answers"
    case .cancelledIsUnpaid: "the app clears away the transaction of an order whose sheet said cancelled"
    case .oneKeyForAll: "every request for an order has the first one's Idempotency-Key"
    case .deviceOrderNotSent: "an order that the device made is not sent to the backend"
    case .streamNeverEnds: "the app's copy of the event stream never ends"
    }
  }
}
