package import PurchaseQueue

/// What an engine and its shop do, as the judge of a test sees it (`SystemDependencies.sight`).
package enum EngineSight: Sendable {
  /// The file is open. It holds these purchases that are not settled.
  case opened(ObjectIdentifier, RetryPolicy, [EntryKey: Lane])
  /// The engine was shut down, or nothing holds it any more.
  case closed(ObjectIdentifier)
  case suspended
  case woken(WakeReason)
  /// An event is published.
  case event(SyncEvent)
  case discarded(EntryKey)
  /// A part of the device's storage does not answer: the file, or the vault with its name.
  case storageFailed
  case calls(Call)
  /// An upload is being prepared.
  case uploadBegins(Lane, [EntryKey])
  /// It has ended; nil if it did not go out.
  case uploadEnds(Lane, [EntryKey], UploadClassification?)
  /// An adoption was not taken.
  case adoptionFailed(UploadFailure)

  /// What has to have a pace.
  package enum Call: Sendable {
    case request(Request)
    /// Without those of a restore, for which a person asks.
    case store
    case credentials
    case fulfil(Outcome)
  }

  /// A request to the backend.
  package enum Request: Sendable, Hashable {
    case upload
    case adoption
    /// About orders: a key, a cursor or a number, and what is asked.
    case order(String)
  }
}

extension SyncEngine {
  /// Shows the judge of a test what happens. There is none in an app.
  func saw(_ sight: @autoclosure () -> EngineSight) { configuration.system.sight?(sight()) }

  /// The file is open, with the purchases that an earlier run left. An update of a settled one is not among them.
  func sawFile(_ file: SyncFile) throws(QueueError) {
    guard configuration.system.sight != nil else { return }
    var lanes: [EntryKey: Lane] = [:]
    for entry in try file.queue.allEntries() where entry.state == .queued {
      if try file.queue.tombstone(entry.key) == nil { lanes[entry.key] = entry.lane }
    }
    saw(.opened(ObjectIdentifier(lateCalls), configuration.retry, lanes))
  }
}
