import PurchaseQueue
import PurchaseSync

/// A phone: its disk, its clock, who is signed in, and the processes that run on it.
final class Phone {
  let number: Int
  let disk: any ExplorationDisk
  var shadow: Shadow
  var image: Shadow.Image?
  /// Its clock's distance from the world's, in milliseconds.
  var clock: Int64 = 0
  var storeAccount: Int
  /// Who is using the app; -1 for nobody.
  var user: Int
  /// Accounts with credentials, as bits.
  var signedIn: Int
  /// Which process may send a lane; -1 for none. Dies with its process.
  var leases = [Int](repeating: -1, count: Names.lanes.count)
  /// A storage fault that waits for a process.
  var armed: (kind: StorageFault, after: Int, count: Int)?
  /// What the backend asked to wait before an entry is sent again, by the phone's clock.
  var floors: [(sale: Int, until: Int64)] = []
  /// When requests after a failure went out, by the phone's clock, of all its processes.
  var spent: [Int64] = []
  var machineSeeds: RandomStream
  /// What the next opening has to find: the same, a fresh install, or the image.
  var isFresh = true

  init(_ number: Int, _ disk: any ExplorationDisk, _ shadow: Shadow, _ knobs: Knobs, _ log: DrawLog?) {
    self.number = number
    self.disk = disk
    self.shadow = shadow
    storeAccount = number % knobs.storeAccounts
    user = number % knobs.accounts
    signedIn = 1 << user
    machineSeeds = RandomStream(seed: knobs.seed, "machine", number, log: log)
  }

  func isSignedIn(_ account: Int) -> Bool { signedIn & 1 << account != 0 }
}

/// One launch after the other of the app, or of its extension, on one phone.
final class Process {
  let number: Int
  let phone: Phone
  /// 0 the app, 1 its extension.
  let role: Int
  var storage: WatchedStorage
  var machine: SyncMachine<WatchedStorage>
  var isAlive = false
  /// Answers to an earlier launch are nobody's.
  var launch: Int32 = 0
  var isParked = false
  /// The one timer: when it fires in the world's time, and which it is.
  var timerAt: Int64?
  var timerNumber: Int32 = 0
  /// Of each lane: the upload that is out; -1 for none.
  var uploads = [Int32](repeating: -1, count: Names.lanes.count)
  var finishing: [Int32] = []
  var claiming = 0
  var isListing = false
  var wantsListing = false

  // What an observer knows.
  var isFailing = false
  var failingLanes = 0
  var waitingLanes = 0
  var floorOfAll = Int64(0)
  /// The same, and what was said of a lane, as it was said. After a clock that went back, and perhaps came on again, a
  /// machine may still keep to it, or not: `floorOfAll` is what it has to keep to, this is how long it may.
  var floorAsSaid = Int64(0)
  var floorOfLane = [Int64](repeating: 0, count: Names.lanes.count)
  /// Purchases that this launch paid.
  var paid: [Int32] = []

  init(_ number: Int, _ phone: Phone, role: Int, _ storage: WatchedStorage, _ policy: RetryPolicy) {
    self.number = number
    self.phone = phone
    self.role = role
    self.storage = storage
    machine = SyncMachine(storage: storage, policy: policy, seed: 0)
  }

  /// The backend asked to be left alone until then.
  func raiseFloor(to moment: Int64) {
    floorOfAll = max(floorOfAll, moment)
    floorAsSaid = max(floorAsSaid, moment)
  }

  /// What dies with a process.
  func forget() {
    isAlive = false
    launch += 1
    isParked = false
    timerAt = nil
    for lane in uploads.indices {
      uploads[lane] = -1
      floorOfLane[lane] = 0
    }
    finishing.removeAll(keepingCapacity: true)
    paid.removeAll(keepingCapacity: true)
    (claiming, isListing, wantsListing) = (0, false, false)
    (failingLanes, waitingLanes) = (0, 0)
    for lane in phone.leases.indices where phone.leases[lane] == number { phone.leases[lane] = -1 }
  }
}

/// One request with claims, on its way and back.
struct Upload {
  var process: Int
  var launch: Int32
  var phone: Int
  var lane: Int
  var claims: [LeanBackend.LeanClaim]
  /// In whose name: a device or an account.
  var credential: Int
  /// The app receipt that goes along; -1 for none.
  var receipt: Int
  /// Whether a signed transaction goes along: the first claim's.
  var isSigned: Bool
  var fate: Fault?
  var reply: UploadReply?
  /// What the backend said before a planted bug made something else of it; nil without one.
  var truth: [ClaimVerdict]?
  var failure: UploadFailure?
  /// The place of each claim's entry.
  var places: [Int64]
  /// Attempts of its first claim: which delivery this is, for a backend that cares.
  var attempt: Int
}
