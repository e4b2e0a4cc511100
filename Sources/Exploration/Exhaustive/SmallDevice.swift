import PurchaseQueue
import PurchaseSync

/// One device: its disk, and the process that runs on it.
struct SmallDevice {
  /// The device's clock.
  var now = SmallWorld.deviceStart
  var isAlive = false
  /// Of a dead process: without a meaning.
  var machine: SyncMachine<SmallStorage>
  /// Never changed in place: a step works on a copy.
  var disk: any BranchingStorage
  /// With a planted bug: the process sees this, and it is not on the disk yet.
  var unwritten: (any BranchingStorage)?
  /// How often the app was installed again.
  var installation = 0
  /// The account that bought here last, and is signed in; -1 for none.
  var user = -1

  // What ends with the process.
  var timerAt: Int64?
  /// The request of each lane that the process waits for; -1 for none.
  var waits = [Int](repeating: -1, count: 3)
  /// Transactions that the store is asked to finish.
  var finishing = 0
  /// New transactions that the store hands over by itself.
  var arriving = 0
  /// Outcomes that this process published to the app, and that the app has not confirmed.
  var telling = 0
  var isListing = false
  /// The store is to be asked once more.
  var listsAgain = false
  /// For a planted bug: an earlier process left an entry, and the store has not answered since the launch.
  var wasLeft = false
  /// For the same bug: a request has had no answer. Nothing stored says so, for it is no fault of the entry.
  var wasUnanswered = false

  /// The process is gone.
  mutating func die(leaving disk: any BranchingStorage) {
    self.disk = disk
    unwritten = nil
    isAlive = false
    timerAt = nil
    waits = [-1, -1, -1]
    (finishing, arriving, telling) = (0, 0, 0)
    (isListing, listsAgain, wasLeft) = (false, false, false)
  }

  /// Everything that influences what it does next. `disk`: the text of the disk, if it is known.
  func text(disk known: String? = nil) -> String {
    var text = ValueText(now: now)
    text.add(value: isAlive)
    text.add(value: [installation, user, finishing, arriving, telling])
    text.add(value: waits)
    text.add(value: [isListing, listsAgain, wasLeft, wasUnanswered])
    if let timerAt { text.add(moment: timerAt) }
    if isAlive { text.add(value: machine) }
    text.add(known ?? diskText)
    if let unwritten { text.add(value: unwritten) }
    return text.text
  }

  var diskText: String {
    var text = ValueText(now: now)
    text.add(value: disk)
    return text.text
  }
}

/// What happens to one device. The outside is in it: what the store lists, what the backend answered.
enum SmallEvent: Hashable {
  case launch
  case timer
  /// The store answers with its list, as bits.
  case listed(Int)
  case arrives(Int)
  /// The store was asked to finish a transaction. `isThere`: it listed it.
  case finished(Int, isThere: Bool)
  /// The number of the answer.
  case reply(lane: Int, Int)
  case noReply(lane: Int)
  /// A purchase is made here: the order becomes durable, then the person pays.
  case buys(account: Int, sale: Int)
  /// A purchase was made, here or on another device of the same Apple ID.
  case charged(Int)
  /// A transaction is finished before the store handed it over here.
  case forgets(Int)
  /// The app confirms an outcome that was published to it.
  case confirms(Int)
  /// The order of a purchase becomes durable, and the process dies before the person pays.
  case leaves(account: Int)
  case reinstall
  case crash

  /// The least number that is greater than each `number`.
  static let count = 96
  static let mostReplies = SmallLetter.mostAnswers
  private static let replies = 25..<25 + 3 * mostReplies

  /// A number for each event that there is in the small world.
  var number: Int {
    switch self {
    case .launch: 0
    case .timer: 1
    case .reinstall: 2
    case .crash: 3
    case .listed(let listed): 4 + listed
    case .arrives(let sale): 8 + sale
    case .charged(let sale): 10 + sale
    case .finished(let sale, let isThere): 12 + 2 * sale + (isThere ? 1 : 0)
    case .buys(let account, let sale): 16 + 2 * sale + account
    case .forgets(let sale): 20 + sale
    case .noReply(let lane): 22 + lane
    case .reply(let lane, let answer): Self.replies.lowerBound + Self.mostReplies * lane + answer
    case .confirms(let sale): Self.replies.upperBound + sale
    case .leaves(let account): Self.replies.upperBound + 2 + account
    }
  }
}

extension SmallEvent {
  /// The event with this number.
  init(number: Int) {
    switch number {
    case 0: self = .launch
    case 1: self = .timer
    case 2: self = .reinstall
    case 3: self = .crash
    case 4..<8: self = .listed(number - 4)
    case 8..<10: self = .arrives(number - 8)
    case 10..<12: self = .charged(number - 10)
    case 12..<16: self = .finished((number - 12) / 2, isThere: number % 2 == 1)
    case 16..<20: self = .buys(account: number % 2, sale: (number - 16) / 2)
    case 20..<22: self = .forgets(number - 20)
    case 22..<25: self = .noReply(lane: number - 22)
    case Self.replies:
      let reply = number - Self.replies.lowerBound
      self = .reply(lane: reply / Self.mostReplies, reply % Self.mostReplies)
    default:
      let last = number - Self.replies.upperBound
      self = last < 2 ? .confirms(last) : .leaves(account: last - 2)
    }
  }
}
