/// A behaviour in words, for the page.
extension Behaviour {
  package var sentence: String {
    switch kind {
    case .entry: entrySentence
    case .transaction: transactionSentence
    case .line: lineSentence
    case nil: "unknown"
    }
  }

  private static func word(_ number: Int, _ words: [String]) -> String {
    words.indices.contains(number) ? words[number] : "\(number)"
  }

  private static func list(_ parts: [String]) -> String {
    parts.filter { !$0.isEmpty }.joined(separator: ", ")
  }

  /// In the order of the simulation's numbers for them, as the next lists are.
  private static let verdicts = [
    "granted", "duplicate", "otherOwner", "lapsed", "refunded", "pending", "unknownTransaction", "rejected",
    "a verdict of a newer protocol",
  ]

  private static let failures = [
    "no answer", "no answer, with Retry-After", "busy", "busy, with Retry-After", "a faulty backend",
    "another protocol", "a refused token", "an interruption", "no sign-in", "a taken lane", "another failure",
  ]

  private static let acts: [String] = [
    "a purchase", "closed sheets", "no confirmation any more", "a fault", "a failing disk", "a kill",
    "a power loss", "the clock goes back", "the clock goes forward", "another user", "another Apple ID",
    "a reinstall", "a backup", "an old image", "a claim of the device", "a redelivery", "the foreground",
    "the network is back", "the user asks", "the background", "an extension", "a restore",
    "a subscription bought again", "an offer code", "a refund", "a refund undone", "an upgrade", "a renewal",
    "a backup of the backend", "the backend's backup restored",
  ]

  // MARK: Entries

  private var entrySentence: String {
    let stages = [
      "unknown", "waiting", "postponed", "in flight", "quarantined", "settled", "settled, owes its finish",
      "settled and unconfirmed", "settled, unconfirmed, owes its finish", "not taken", "forgotten but bound",
      "a trial",
    ]
    let tries = ["never tried", "tried once", "tried 2 or 3 times", "tried up to 8 times", "tried often"]
    let lanes = ["the device's lane", "the user's lane", "another user's lane", "a signed-out user's lane"]
    let proofs = ["no proof", "a receipt", "a signed transaction", "both proofs"]
    let matches = ["no order", "one candidate", "several candidates", "bound"]
    let state = Self.list([
      Self.word(part(1), stages), Self.word(part(2) >> 1, tries), part(2) & 1 == 1 ? "an update" : "",
      Self.word(part(3) >> 2, lanes), Self.word(part(3) & 3, proofs), Self.word(part(4) >> 2, matches),
      part(4) & 2 != 0 ? "was postponed" : "", part(4) & 1 != 0 ? "the queue is full" : "",
      Self.word(part(5) >> 1, ["the app is dead", "the app runs", "the app is suspended"]),
      part(5) & 1 != 0 ? "the extension runs" : "",
    ])
    return "entry: \(entryEvent); \(state)"
  }

  private var entryEvent: String {
    let detail = part(0)
    return switch EntryEvent(rawValue: event) {
    case .arrivesSigned: "arrives signed"
    case .arrivesByReceipt: "arrives with a receipt"
    case .isNotTaken: "is not taken"
    case .isRestored: "is restored by a person"
    case .isSent: detail == 0 ? "is sent" : "is sent, and meets \(Self.word(detail - 1, Self.faults))"
    case .leaseDenied: "another process sends its lane"
    case .verdictHeard: "hears '\(Self.word(detail, Self.verdicts))'"
    case .failureHeard: "hears of \(Self.word(detail, Self.failures))"
    case .finishBegins: "is to be finished"
    case .finishEnds: ["is finished", "is not listed", "its finish fails"][min(2, detail)]
    case .isConfirmed: "the app confirms it"
    case .isTold: "the app is told '\(Self.word(detail, Self.verdicts))'"
    case .dies: detail == 0 ? "the app dies" : "the extension dies"
    case .launches: detail == 0 ? "the app is launched" : "the extension is launched"
    case .storageFails: "a write fails"
    case .faultEnds: "a fault ends"
    case .heals: "all faults end"
    case .acts: Self.word(detail, Self.acts)
    case .actsToo: Self.word(detail + 16, Self.acts)
    case .isNamed: Self.word(detail + 16, Self.acts)
    case .adoptionSent: "an adoption is sent"
    case .adoptionEnds: detail == 0 ? "an adoption is taken" : "an adoption fails"
    case .proofFound: "a proof is found"
    case .timerFires: "the timer fires"
    case nil: "?"
    }
  }

  private static let faults = Fault.allCases.map { "\($0)" }

  // MARK: Transactions

  private var transactionSentence: String {
    let detail = part(0)
    let event =
      switch TransactionEvent(rawValue: event) {
      case .isCharged: "is charged"
      case .isDelivered: "is delivered"
      case .isNamed: Self.word(detail + 16, Self.acts)
      case .isAsked: "is asked to finish"
      case .finishEnds: ["is finished", "is not listed", "its finish fails"][min(2, detail)]
      case .finishedByBackend: "the backend finishes it"
      case .isHandedAnew: "is signed anew for another process"
      case nil: "?"
      }
    let lives = ["unfinished", "finished", "listed again"]
    let money = ["", "refunded", "its refund undone"]
    let chains = ["a consumable", "a first period", "a renewal", "a period bought again"]
    let owners = [
      "not credited", "credited to a device", "credited to its account", "credited to another account",
      "adopted by its account", "adopted by another account",
    ]
    let state = Self.list([
      Self.word(part(1) / 3, lives), Self.word(part(1) % 3, money), Self.word(part(2) & 3, chains),
      part(2) & 4 != 0 ? "expired" : "", part(2) & 8 != 0 ? "upgraded" : "",
      Self.word(part(3) >> 2, ["signed", "by receipt", "both proofs"]),
      Self.word(part(3) & 3, ["", "crashes the backend", "is rejected", "gets no verdict"]),
      Self.word(
        part(4) >> 2, ["without an order", "with an order", "forgets its token", "an assigned seat"]),
      part(4) & 3 > 0 ? "version \(part(4) & 3)" : "", Self.word(part(5) & 7, owners),
      part(5) & 8 != 0 ? "on record" : "", "held by \(part(6) >> 2) phones, settled on \(part(6) & 3)",
      "its Apple ID on \(part(7) >> 2) phones",
    ])
    return "transaction: \(event); \(state)"
  }

  // MARK: Lines of the ledger

  private var lineSentence: String {
    let owners = [
      "no line", "a device's", "its account's", "another account's", "adopted by its account",
      "adopted by another account",
    ]
    switch LineEvent(rawValue: event) {
    case .isClaimed, .isAsked:
      let matches = [
        "no order named", "its order named", "a wrong order named", "its order proposed",
        "other orders proposed",
      ]
      let names = ["a device", "its account", "another account"]
      let present = ["", "its account signed in", "another account signed in"]
      let state = Self.list([
        Self.word(part(1), owners) + " before", Self.word(part(2), owners) + " after",
        Self.word(part(3), matches), part(4) & 1 != 0 ? "the token is told" : "",
        part(4) & 2 != 0 ? "by a request" : "by a notification or a stranger",
        "from "
          + Self.word(part(5) / 3, names), Self.word(part(5) % 3, present),
        part(6) & 1 != 0 ? "refunded" : "", part(6) & 2 != 0 ? "expired" : "",
        part(6) & 4 != 0 ? "a later period" : "", "epoch \(part(7) & 3)",
      ])
      let proof = LineEvent(rawValue: event) == .isClaimed ? "with a proof" : "by id alone"
      return "ledger: claimed \(proof), '\(Self.word(part(0), Self.verdicts))'; \(state)"
    case .isRestored: return "ledger: the backup is restored; \(Self.word(part(1), owners)), epoch \(part(4))"
    case .isAdopted: return "ledger: a device is adopted; \(Self.word(part(1), owners)), epoch \(part(4))"
    case nil: return "ledger: ?"
    }
  }
}
