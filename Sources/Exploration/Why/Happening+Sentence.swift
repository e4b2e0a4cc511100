extension Happening.Kind {
  /// What happens, in words.
  var sentence: String {
    switch self {
    case .act: "an act"
    case .faultEnds: "a fault ends"
    case .timer: "a timer fires"
    case .uploadArrives: "a request arrives at the backend"
    case .uploadEnds: "a request ends"
    case .finishEnds: "a finish at the store ends"
    case .adoptionEnds: "an adoption ends"
    case .listed: "the store lists its unfinished transactions"
    case .listAgain: "a list of the store that failed is asked for again"
    case .receiptRead: "the receipt is read"
    case .delivery: "the store delivers a transaction"
    case .notification: "the store notifies the backend"
    case .confirmation: "the app confirms an outcome"
    case .fulfilAgain: "the app is given again what it failed to fulfil"
    case .launch: "a process is launched"
    case .extensionEnds: "the extension ends"
    case .foreground: "the app comes to the foreground"
    case .wakes: "wakes that came too fast have their effect"
    case .approval: "a purchase is approved"
    case .heal: "the faults end"
    case .turn: "the Apple IDs change phones"
    case .turnEnds: "the store is listed once more"
    case .deadline: "the deadline of the deliveries"
    case .cure: "poison entries are repaired"
    case .end: "the end of the run"
    }
  }
}
