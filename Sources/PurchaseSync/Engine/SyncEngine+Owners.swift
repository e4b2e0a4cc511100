import Foundation
import PurchaseQueue

/// Asking the app whose an account token is.
extension SyncEngine {
  private enum Answer {
    /// The account, or nil if the app knows none.
    case owner(String?)
    case failed, late
  }

  /// Asks about the entries of an upload whose token no order here has. True if something was decided or postponed: then
  /// nothing is sent, and the lane chooses again. Each entry is asked about until the app has answered, also after a
  /// restart; an app that does not answer holds up the device's lane for one time limit at most.
  func askOwners(of entries: [Entry], in lane: Lane, _ generation: Int) async -> Bool {
    guard lane == .device else { return false }
    var isChanged = false
    do throws(SyncError) {
      for entry in entries where EntryDetails(of: entry).known?.waitsForOwner == true {
        let answer = try await owner(of: entry)
        guard !isShutDown, open.isOpen(as: generation), !Task.isCancelled else {
          return true
        }
        isChanged = true
        switch answer {
        case .owner(let account): try decideOwner(of: entry, account)
        case .failed: try postponeAsking(about: entry.key)
        case .late:
          try postponeAsking(about: entry.key)
          return true
        }
      }
    } catch {
      report(error)
      lookAgain()
      return true
    }
    return isChanged
  }

  private func owner(of entry: Entry) async throws(SyncError) -> Answer {
    let token = try withFile { (file) throws(QueueError) in try file.token(of: entry.key) }
    guard let token, let ask = configuration.accountForToken else { return .owner(nil) }
    if let known = try withFile({ (file) throws(QueueError) in try file.account(of: token) }) {
      return .owner(known)
    }
    let limit = limit(configuration.credentialTimeLimit, of: .accountForToken, about: "a token")
    let answer = await limit.answer { () async -> Answer? in
      do {
        return .owner(try await ask(token))
      } catch {
        // What fails because it was left behind has not returned.
        return Task.isCancelled ? nil : .failed
      }
    }
    guard case .owner(let account?) = answer, account.utf8.count > AppUser.longestAccount else {
      return answer ?? .late
    }
    // It cannot be queued. A newer version of the app may name another one.
    return .failed
  }

  private func decideOwner(of entry: Entry, _ account: String?) throws(SyncError) {
    let (user, now) = (self.user, configuration.now())
    decisions.owners.answered(entry.key)
    let decided = try withFile { (file) throws(QueueError) in
      try file.decideOwner(of: entry.key, named: account, user, now: now)
    }
    guard let decided, decided.lane != entry.lane else { return }
    perform(try step { (machine, now) throws(QueueError) in machine.ownerFound(decided, now: now) })
  }

  private func postponeAsking(about key: EntryKey) throws(SyncError) {
    let now = configuration.now()
    let wait = decisions.owners.failed(key, now: now, configuration.retry)
    let reason = "the app did not say whose its account token is"
    try withFile { (file) throws(QueueError) in
      // It may have been discarded since.
      guard try file.queue.entry(key) != nil else { return }
      try file.postpone(key, wait, reason: reason, now: now)
    }
    emit(.postponed(key, reason: reason, until: wait.ends))
  }
}
