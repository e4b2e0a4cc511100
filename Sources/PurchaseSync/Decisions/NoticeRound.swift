import PurchaseQueue

/// Which requests about orders go out for which no purchase waits: the notices that are pending in the file, and then
/// questions about orders whose approval can hardly come any more. Pure: the engine reads the file, sends, and says how it
/// ended.
///
/// ```
///          wanted: something is pending         no notice is left, or no answer came
///   idle ─────────────────────────▶ publishing ─────────────────────────────────────▶ asking
///    ▲                              │  │    ▲                                        │  │  ▲
///    │                              │  └────┘ next notice              next question │  └──┘
///    │      background, or a pause  │                                                │
///    ├──────────────────────────────┘               no question is left, or it failed│
///    └───────────────────────────────────────────────────────────────────────────────┘
/// ```
///
/// What is wanted during a round begins another one after it. Without an answer, the next start, wake or answered upload
/// begins one: no timer is set for them. An account without a token that the backend takes has no more notices in a round.
struct NoticeRound: Hashable {
  /// What decides whether a request may go out.
  struct Moment {
    /// The engine is neither in the background nor at its end.
    var isAwake: Bool
    /// The pause that the backend asked for.
    var pause: Wait?
    var now: Timestamp

    fileprivate var isOpen: Bool { isAwake && (pause.map { $0.opensAt(now: now) <= now } ?? true) }
  }

  /// What the engine does next.
  enum Step: Hashable {
    /// Publish the notice of this order, if it is still pending. → `published`
    case publish(String)
    /// Read the orders to ask about. → `found`
    case findQuestions
    /// Ask about this order. → `failed`, or nothing
    case ask(String)
    /// The round has ended. If another one is wanted, begin it.
    case end(isWanted: Bool)
  }

  private enum Activity: Hashable { case idle, publishing([String]), asking([String]) }

  private var activity = Activity.idle
  private var isWanted = false
  /// Each order is asked about once in a process: the answer of a backend that does not know it would be the same.
  private var asked: Set<String> = []
  /// The accounts that have no token in this round.
  private var tokenless: Set<Lane> = []

  init() {}

  /// Something may be pending. True: read it, and begin.
  mutating func wanted(at moment: Moment) -> Bool {
    if activity == .idle { return moment.isOpen }
    isWanted = true
    return false
  }

  /// False if there is nothing to do.
  mutating func begin(notices: [String], questions: [String]) -> Bool {
    guard !notices.isEmpty || questions.contains(where: { !asked.contains($0) }) else { return false }
    activity = .publishing(notices)
    return true
  }

  mutating func next(at moment: Moment) -> Step {
    switch activity {
    case .publishing(let notices) where moment.isOpen:
      guard let next = notices.first else {
        activity = .asking([])
        return .findQuestions
      }
      activity = .publishing(Array(notices.dropFirst()))
      return .publish(next)
    case .asking(let questions) where moment.isOpen && !questions.isEmpty:
      activity = .asking(Array(questions.dropFirst()))
      asked.insert(questions[0])
      return .ask(questions[0])
    default:
      defer { (activity, isWanted, tokenless) = (.idle, false, []) }
      return .end(isWanted: isWanted)
    }
  }

  /// A notice was sent. Unless the backend can be reached, the others have to wait, too.
  mutating func published(isReachable: Bool) { if !isReachable { failed() } }

  /// There is no token of the account, or the backend refuses it.
  mutating func lacksToken(_ account: String) { tokenless.insert(.account(account)) }

  /// Whether a notice of the account may go out in this round.
  func isOpen(to account: String) -> Bool { !tokenless.contains(.account(account)) }

  mutating func found(questions: [String]) { activity = .asking(questions.filter { !asked.contains($0) }) }

  /// The file or a request failed: the others of its kind wait for the next round.
  mutating func failed() {
    switch activity {
    case .idle: break
    case .publishing: activity = .publishing([])
    case .asking: activity = .asking([])
    }
  }
}

// MARK: What is sent, and what an answer means

extension OrderNotice {
  /// Nil for a state that is not the backend's business. `made`: the order, if this device made it.
  init?(_ state: OrderState, of number: String, _ made: DeviceOrder?) {
    if let made {
      self = .made(made)
    } else if state == .cancelled || state == .deferred {
      self = .became(state, number: number)
    } else {
      return nil
    }
  }
}

extension NoticeRound {
  /// What follows from the backend's answer to a notice.
  struct End: Hashable {
    /// Whether the notice is not pending any more.
    var isAcknowledged = false
    /// Whether the backend can be reached for the others.
    var isReachable = true
    /// Whether the backend refused the token.
    var isRefused = false
    /// The order as the backend knows it.
    var document: OrderDocument?
    var event: SyncEvent?

    init(of number: String, isMadeHere: Bool, _ answer: OrderAnswer<OrderDocument?>) {
      switch answer {
      case .success(let known):
        isAcknowledged = true
        document = known?.number == number ? known : nil
      case .failure(.tokenRefused): isRefused = true
      // It is about this notice alone.
      case .failure(.unsendable(let reason)): event = .backendFault(reason: reason)
      // It is about the versions of app and backend, and not about this order.
      case .failure(.otherProtocol(_, let reason)):
        (isReachable, event) = (false, .protocolRefused(reason: reason))
      case .failure(.refused(let status)):
        // Final. The order's own transaction is judged by its claim.
        isAcknowledged = true
        if isMadeHere { event = .backendFault(reason: "order \(number) was refused with \(status)") }
      case .failure(.unreachable): isReachable = false
      }
    }
  }
}
