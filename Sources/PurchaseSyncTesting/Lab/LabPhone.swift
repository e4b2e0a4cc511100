import Foundation
import PurchaseQueue
import PurchaseSQLite
import PurchaseSync
import VirtualTime

/// A phone in an ``AppLab``. Its files outlive the launches of the app on it.
public final class LabPhone: Sendable {
  /// A moment at which the app can die.
  @nonexhaustive
  public enum Death: Sendable, Hashable {
    /// Nothing of the request has left the phone.
    case before(path: String)
    /// The other side has done its part, and its answer is lost with the app.
    case after(path: String)

    /// The store has charged, and the app does not learn of it.
    public static let afterPayment = Death.after(path: "/store/payments")
  }

  /// What a payment sheet says at its end, whatever has happened.
  @nonexhaustive
  public enum SheetEnd: Sendable, Hashable {
    /// It was closed.
    case cancelled
    /// Another person has to agree.
    case pending
    /// It failed with this error, such as code 0 of `SKErrorDomain`.
    case error(domain: String, code: Int)
  }

  /// The name of the phone.
  public let name: String
  let lab: AppLab
  private let state: Locked<State>
  private let judge: Locked<PhoneJudge>

  struct State {
    /// The folder of the present disk.
    var folder: String
    var disks = 1
    var deaths: [Death] = []
    var lies: [SheetEnd] = []
    var isOffline = false
    var clockError: Int64 = 0
    /// The disk could not be copied at the end of a launch.
    var failure: String?
  }

  init(_ name: String, in lab: AppLab) {
    (self.name, self.lab) = (name, lab)
    state = Locked(State(folder: lab.folder + "/" + name + "-1"))
    judge = Locked(PhoneJudge(name: name))
  }

  // MARK: The app

  /// Launches the app, and runs it until `body` returns or the app is killed. Then all that it started is over, in the
  /// middle of its work, as with a process that ends: no `close` is needed, and none is waited for.
  ///
  /// The kill is between two steps of the app's tasks. The files are then what a killed process leaves. A kill in the
  /// middle of a system call, and a loss of power, need real processes.
  ///
  /// - Returns: The result of `body`; nil if the app was killed.
  @discardableResult
  public func launch<R: Sendable>(
    _ body: @escaping @Sendable (LabApp) async throws -> R
  ) async throws -> R? {
    try FileManager.default.createDirectory(
      atPath: state.value.folder + "/app", withIntermediateDirectories: true)
    let folder = state.value.folder
    let launch = judge.withLock { $0.launched() }
    let result = try await lab.queue.process(ended: { self.end(folder, launch) }) { number in
      try await body(LabApp(phone: self, process: number, launch: launch, folder: folder))
    }
    if let failure = state.value.failure { throw MockServerError(failure) }
    return result
  }

  /// Kills the app at this moment of its next launch, or of the present one. Several are taken one after another.
  public func dies(_ death: Death) { state.withLock { $0.deaths.append(death) } }

  /// The next payment sheet says this, and the store charges all the same. Several are said one after another.
  public func sheetSays(_ end: SheetEnd) { state.withLock { $0.lies.append(end) } }

  func nextLie() -> SheetEnd? {
    state.withLock { $0.lies.isEmpty ? nil : $0.lies.removeFirst() }
  }

  /// Deletes the app with its files. The vault stays, as the keychain does. Not while the app runs.
  public func deleteApp() throws {
    try FileManager.default.removeItem(atPath: state.value.folder + "/app")
  }

  // MARK: The phone

  /// Whether requests to the backend and the store fail.
  public func setOffline(_ isOffline: Bool) {
    state.withLock { $0.isOffline = isOffline }
    judge.withLock { $0.isOffline(isOffline, at: lab.queue.now) }
  }

  /// Sets the phone's wall clock wrong by so much. Time itself does not pass: see ``AppLab/pass(_:)``.
  public func setClockError(_ error: Duration) {
    state.withLock { $0.clockError = error.inMilliseconds }
  }

  /// Signs another Apple ID in; nil signs out.
  public func signIn(storeAccount: String?) {
    lab.server.withStore { $0.signIn(device: name, storeAccount: storeAccount) }
  }

  var isOffline: Bool { state.value.isOffline }

  /// The app of a launch does something.
  func saw(_ sight: EngineSight, in launch: Int) {
    judge.withLock { $0.saw(sight, in: launch, at: lab.queue.now) }
  }

  /// What is known of the app by now.
  func judged() -> PhoneJudge {
    judge.withLock { judge in
      judge.check(at: lab.queue.now)
      return judge
    }
  }

  var now: Timestamp {
    lab.beginning.adding(milliseconds: lab.queue.now).adding(milliseconds: state.value.clockError)
  }

  /// Whether the app dies now; asked once for each moment.
  func takes(_ death: Death) -> Bool {
    state.withLock { state in
      guard state.deaths.first == death else { return false }
      state.deaths.removeFirst()
      return true
    }
  }

  /// The files as they are now are the disk of the next launch. What the dead launch still holds open are the old ones.
  private func end(_ folder: String, _ launch: Int) {
    judge.withLock { $0.ended(launch, at: lab.queue.now) }
    let next = state.withLock { state in
      state.disks += 1
      return lab.folder + "/" + name + "-\(state.disks)"
    }
    do {
      try Self.copy(folder, to: next)
      state.withLock { $0.folder = next }
    } catch {
      state.withLock { $0.failure = "the files of \(name) cannot be copied: \(error)" }
    }
  }

  private static func copy(_ folder: String, to next: String) throws {
    let files = FileManager.default
    try files.createDirectory(atPath: next, withIntermediateDirectories: true)
    for name in try files.contentsOfDirectory(atPath: folder) {
      let (from, to) = (folder + "/" + name, next + "/" + name)
      if try files.attributesOfItem(atPath: from)[.type] as? FileAttributeType == .typeDirectory {
        try copy(from, to: to)
      } else if !name.hasSuffix("-shm") {
        // That one is shared memory, and ends with its process.
        try files.copyItem(atPath: from, toPath: to)
      }
    }
  }
}
