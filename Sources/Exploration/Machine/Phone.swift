import PurchaseQueue
import PurchaseSync
import VirtualTime

/// A phone: its disk, its clock, who is signed in, and the processes that run on it.
final class Phone {
  let number: Int
  let disk: any ExplorationDisk
  var shadow: Shadow
  var image: Shadow.Image?
  /// The difference of its clock from the simulation's, in milliseconds.
  var clock: Int64 = 0
  var storeAccount: Int
  /// Of each Apple ID: when it was signed out last, in the simulation's time; 0 for never.
  var leftAppleID: [Int64]
  /// The account that uses the app; -1 for none.
  var user: Int
  /// Accounts with credentials, as bits.
  var signedIn: Int
  /// The process that holds the lease of each lane; -1 for none. A lease ends with its process.
  var leases = [Int](repeating: -1, count: Names.lanes.count)
  /// A storage fault for the next process.
  var armed: (kind: StorageFault, after: Int, count: Int)?
  /// The Retry-After of single entries, by the phone's clock.
  var floors: [(sale: Int, until: Int64)] = []
  /// When its processes sent requests after a failure, by the phone's clock.
  var spent: [Int64] = []
  var machineSeeds: RandomStream
  /// By when what a lane holds has to be delivered.
  var deadlines = [DeliveryDeadline](repeating: DeliveryDeadline(), count: Names.lanes.count)
  /// By when the app has to take what the store lists.
  var taking = DeliveryDeadline()
  /// The longest waits that the backend may have caused: of a purchase by its number, of a lane, and of all.
  var asked: [AskedBy: AskedWait] = [:]
  /// Those of the time when it was backed up, with its clock then.
  var askedInImage: [AskedBy: AskedWait] = [:]
  var clockInImage: Int64 = 0
  var imageTakenAt: Int64 = 0
  /// How far its clock went back since the last event that any of its processes has outlived.
  var unseenJump: Int64 = 0
  /// Those that were not over when the clock went back, until a process starts.
  var restarting: Set<AskedBy> = []
  /// When the backend last gave a verdict about a purchase that leaves it in the queue.
  var leftOpen: [Int: Int64] = [:]
  /// When its network came back last.
  var cameOnlineAt: Int64 = -1
  /// How often its processes did something in a minute.
  var meter = PaceMeter<PaceLimits.Kind>()
  /// Whether its app confirms outcomes.
  var confirms = true
  /// Until when its app's `fulfil` fails.
  var fulfilFailsUntil = Int64.min
  /// Whether the next opening finds a fresh install or a restored backup.
  var isFresh = true

  init(_ number: Int, _ disk: any ExplorationDisk, _ shadow: Shadow, _ knobs: MachineKnobs, _ log: DrawLog?) {
    self.number = number
    self.disk = disk
    self.shadow = shadow
    storeAccount = number % knobs.storeAccounts
    leftAppleID = Array(repeating: 0, count: knobs.storeAccounts)
    user = number % knobs.accounts
    signedIn = 1 << user
    machineSeeds = RandomStream(seed: knobs.seed, "machine", number, log: log)
  }

  /// The account of the person who uses the app, if it has credentials; -1 for none.
  var present: Int { user >= 0 && isSignedIn(user) ? user : -1 }

  func isSignedIn(_ account: Int) -> Bool { signedIn & 1 << account != 0 }

  /// The backend asks everything to wait. A longer wait that another request brought stays.
  func askedOfAll(_ milliseconds: Int64, at now: Int64) {
    let wait = AskedWait(milliseconds, at: now)
    if wait.until > asked[.everything]?.until ?? .min { asked[.everything] = wait }
  }

  /// The backend answers a request of a lane, and asks it to wait, or not. A wait that is open stays: the answer is of
  /// another process, and the one that waits does not know of it.
  func askedOfLane(_ lane: Int, _ milliseconds: Int64?, at now: Int64) {
    let wait = milliseconds.map { AskedWait($0, at: now) }
    if let known = asked[.lane(lane)], known.until > max(now, wait?.until ?? .min) { return }
    asked[.lane(lane)] = wait
  }
}

/// What the backend asked to wait with.
enum AskedBy: Hashable {
  case purchase(Int)
  case lane(Int)
  case everything
}

/// A wait that the backend asked for, with its longest jitter.
struct AskedWait {
  /// Its end, in the simulation's time.
  var until: Int64
  var length: Int64

  init(_ asked: Int64, at now: Int64) {
    let day: Int64 = 86_400_000
    length = min(min(max(asked, 0), day) * 6 / 5, day)
    until = now + length
  }

  /// A machine may obey either of them: the longest of both.
  func orLonger(_ other: AskedWait) -> AskedWait {
    var longest = until < other.until ? other : self
    longest.length = max(length, other.length)
    return longest
  }
}

/// The app or its extension on one phone, launch after launch.
final class Process {
  let number: Int
  let phone: Phone
  /// 0 the app, 1 its extension.
  let role: Int
  var storage: WatchedStorage
  var machine: SyncMachine<WatchedStorage>
  var isAlive = false
  /// Counts launches. Answers to an earlier launch are dropped.
  var launch: Int32 = 0
  var isSuspended = false
  /// Which wakes have their effect at once, as in the engine.
  var wakes = WakePace()
  var hasPendingWakes = false
  /// The only timer: when it fires in the simulation's time, and its number.
  var timerAt: Int64?
  var timerNumber: Int32 = 0
  /// The upload of each lane in flight; -1 for none.
  var uploads = [Int32](repeating: -1, count: Names.lanes.count)
  var finishing: [Int32] = []
  /// When a call began that finishes transactions.
  var finishCallAt: Int64 = -1
  var adopting = 0
  var listings = ListingTurns()
  /// What its app failed to fulfil, since the launch.
  var fulfilments = FulfilmentLine()
  var failedFulfilments: [EntryKey: Outcome] = [:]
  /// What `fulfil` has fulfilled in this launch.
  var fulfilledOutcomes: Set<Outcome> = []
  /// When the app is given them again.
  var fulfilsAt: Int64?

  // What an observer of the process can know.
  var isFailing = false
  /// After an outage: how many requests that follow a failure cost none of the budget.
  var recoveringSends = 0
  var failingLanes = 0
  var waitingLanes = 0
  /// Lanes, and adoptions, whose next request follows an act of a person: it costs none of the budget.
  var personLanes = 0
  var personAdoptions = 0
  var floorOfAll = Int64(0)
  /// The latest floor of all lanes and single lanes, not clamped. After a clock that went back, a machine has to obey
  /// `floorOfAll` and may obey this one.
  var floorAsSaid = Int64(0)
  var floorOfLane = [Int64](repeating: 0, count: Names.lanes.count)
  /// Of each lane: the last upload, if it failed; -1 for none.
  var failedUploads = [Int](repeating: -1, count: Names.lanes.count)
  /// Purchases that this launch paid.
  var paid: [Int32] = []

  init(_ number: Int, _ phone: Phone, role: Int, _ storage: WatchedStorage, _ policy: RetryPolicy) {
    self.number = number
    self.phone = phone
    self.role = role
    self.storage = storage
    machine = SyncMachine(storage: storage, policy: policy, seed: 0)
  }

  /// The backend asked for no requests before this moment.
  func raiseFloor(to moment: Int64) {
    floorOfAll = max(floorOfAll, moment)
    floorAsSaid = max(floorAsSaid, moment)
  }

  /// Clears the state that ends with a process.
  func forget() {
    isAlive = false
    launch += 1
    isSuspended = false
    timerAt = nil
    for lane in uploads.indices {
      uploads[lane] = -1
      floorOfLane[lane] = 0
      failedUploads[lane] = -1
    }
    finishing.removeAll(keepingCapacity: true)
    paid.removeAll(keepingCapacity: true)
    (fulfilments, failedFulfilments, fulfilsAt) = (FulfilmentLine(), [:], nil)
    fulfilledOutcomes = []
    (adopting, listings) = (0, ListingTurns())
    (failingLanes, waitingLanes, personLanes, personAdoptions) = (0, 0, 0, 0)
    (wakes, hasPendingWakes) = (WakePace(), false)
    for lane in phone.leases.indices where phone.leases[lane] == number { phone.leases[lane] = -1 }
  }
}

/// What a claim of a request rests on.
enum SentProof: Hashable {
  /// Nothing: the backend asks the store.
  case none
  case receipt(Int)
  /// The signed transaction of a sale.
  case signed(Int)

  var isReceipt: Bool { if case .receipt = self { true } else { false } }
}

/// One request with claims, on its way and back.
struct Upload {
  var process: Int
  var launch: Int32
  var phone: Int
  var lane: Int
  var claims: [LeanBackend.LeanClaim]
  /// The sender: a device or an account.
  var credential: Int
  /// What each claim rests on.
  var proofs: [SentProof]
  /// The account that is signed in on the device, with the device lane; -1 for none.
  var signedIn = -1
  var fate: Fault?
  var reply: UploadReply?
  /// The verdicts before a planted bug changed them; nil without one.
  var truth: [ClaimVerdict]?
  var failure: UploadFailure?
  /// The queue place of each claim's entry.
  var places: [Int64]
  /// The version of each claim's signed transaction, as it was in the queue; -1 for none.
  var versions: [Int]
  /// The attempts of its first claim.
  var attempt: Int
}
