import CommandLineTools
import Foundation
import PurchaseQueue
import PurchaseSQLite
import PurchaseSync
import PurchaseSyncTesting
import Specification

/// What one launch of the app does, for the specification. Its file is read on a connection of its own, so that only what
/// is committed counts.
final class DeviceSteps: Sendable {
  private struct State {
    var file = WatchedFile()
    var isLaunched = false
    var requests = 0
    /// The requests that the app waits for.
    var awaited: Set<String> = []
    var isNamed: Set<String> = []
  }

  let phone: String
  private let path: String
  private let channel: StepChannel
  private let state = Locked(State())

  init(_ channel: StepChannel, phone: String, queue path: String) {
    (self.channel, self.phone, self.path) = (channel, phone, path)
  }

  /// Nil without `--specification`.
  convenience init?(_ options: AppOptions) throws {
    guard let channel = try StepChannel.ofChild(options.specification) else { return nil }
    self.init(channel, phone: options.phone, queue: Device.queue(in: options.container))
  }

  /// Notes the events, after what was committed before them.
  func note(_ events: StepEvent...) { note { _ in events } }

  private func note(_ events: (inout State) throws -> [StepEvent]) {
    channel.note {
      try state.withLock { state in try look(&state) + events(&state) }
    }
  }

  private func look(_ state: inout State) throws -> [StepEvent] {
    let change = try state.file.look(at: path)
    if state.isLaunched { return change.isEmpty ? [] : [.committed(phone: phone, change)] }
    state.isLaunched = true
    return [.launched(phone: phone, FileChange(all: state.file.known))]
  }

  /// Called at each checkpoint, before a kill there.
  func passed(_ checkpoint: String) {
    switch checkpoint {
    case Checkpoint.enqueueCommitted.rawValue, Checkpoint.settleCommitted.rawValue: note()
    case Checkpoint.vaultRestored.rawValue:
      // What comes back from the vault is found, and not queued.
      note { state in
        state.isLaunched = true
        return [.launched(phone: phone, FileChange(all: state.file.known))]
      }
    default: return
    }
  }

  // MARK: Requests

  /// Returns the name of the request.
  func sends(_ request: BackendRequest) throws -> String {
    let upload = try JSONDecoder().decode(UploadRequest.self, from: request.body)
    let claims = upload.claims.map { StepClaim($0, upload.proof(of: $0)) }
    var name = ""
    note { state in
      state.requests += 1
      name = "\(ProcessInfo.processInfo.processIdentifier).\(state.requests)"
      state.awaited.insert(name)
      let lane = Self.lane(of: request, claims, state.file.known)
      return named(upload.device, &state) + [.sends(name, phone: phone, lane: lane.rawValue, claims)]
    }
    return name
  }

  func adopts(_ request: BackendRequest) throws {
    struct Adoption: Decodable { var device: UUID }
    let device = try JSONDecoder().decode(Adoption.self, from: request.body).device
    note { named(device, &$0) }
  }

  private func named(_ device: UUID, _ state: inout State) -> [StepEvent] {
    state.isNamed.insert(device.uuidString).inserted
      ? [.named(phone: phone, device: device.uuidString)] : []
  }

  /// The credential says the lane; that of the device also sends questions.
  private static func lane(
    of request: BackendRequest, _ claims: [StepClaim], _ content: FileWatch.Content
  ) -> Lane {
    let (credential, bearer) = (request.headers["Authorization"] ?? "", "Bearer token-")
    if credential.hasPrefix(bearer) { return .account(String(credential.dropFirst(bearer.count))) }
    let row = claims.first.flatMap { claim in
      content.rows.first { EntryKey(rawValue: $0.key).transactionID == claim.transaction }?.value
    }
    return row.map { Lane(rawValue: $0.lane) }.flatMap { $0.asker == nil ? nil : $0 } ?? .device
  }

  /// The process has the answer to a request, or gives it up. Only the first of these counts.
  func ended(_ name: String, isHeard: Bool) {
    note { state in
      guard state.awaited.remove(name) != nil else { return [] }
      return [isHeard ? .hears(name) : .ends(name)]
    }
  }
}

extension StepClaim {
  init(_ claim: Claim, _ proof: ProofDocument?) {
    transaction = claim.transactionID
    isProven = proof != nil
    switch proof?.kind {
    case nil: tellsToken = true
    case .signedTransaction?: tellsToken = Self.token(in: proof?.data ?? "") != nil
    default: tellsToken = false
    }
    orders = (claim.orderNumber.map { [$0] } ?? []) + (claim.candidates ?? [])
  }

  /// Of a text that is no signed transaction there is none.
  private static func token(in jws: String) -> UUID? {
    do { return try StoreTransaction(jws: jws, isVerified: true).accountToken } catch { return nil }
  }
}

/// A queue's file that may not be there yet, and may be replaced by another one.
struct WatchedFile {
  private var watch: FileWatch?
  private var number: UInt64?
  private(set) var known = FileWatch.Content()

  /// What has changed since the last look.
  ///
  /// - Parameter leavesLog: See `FileWatch`.
  mutating func look(at path: String, leavesLog: Bool = false) throws -> FileChange {
    guard FileManager.default.fileExists(atPath: path) else { return FileChange(from: known, to: known) }
    let attributes = try FileManager.default.attributesOfItem(atPath: path)
    let number = (attributes[.systemFileNumber] as? NSNumber)?.uint64Value
    if watch == nil || number != self.number {
      watch = try FileWatch(path: path, leavesLog: leavesLog)
      self.number = number
    }
    guard let watch, try watch.look() else { return FileChange(from: known, to: known) }
    defer { known = watch.content }
    return FileChange(from: known, to: watch.content)
  }
}
