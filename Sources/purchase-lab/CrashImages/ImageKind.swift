import PurchaseSQLite

/// The operations of a workload.
enum ImageKind: String, CaseIterable, Sendable {
  // The beginning of a workload. Without one of these, it begins with a queue that has entries of every kind.
  /// There is no file: the schema is created.
  case create
  /// The file has an earlier version of the schema.
  case migrate
  /// The app was removed and installed again: there is only the vault.
  case reinstall
  /// Pages of the file cannot be read.
  case salvage

  // The operations after the beginning.
  case enqueue
  /// The same transaction again, with a newer proof.
  case enqueueAgain = "enqueue-again"
  /// Two transactions in one commit.
  case group
  case attempt
  case postpone
  case settle
  case finish
  case confirm
  case quarantine
  case release
  case discard
  /// Reserved capacity and a request, then the order itself.
  case order
  case claim
  /// The backend was restored: settled transactions are offered again.
  case epoch
  case checkpoint
  /// As SQLite does by itself when the log is long: the log stays, and the next commit starts it again.
  case checkpointPassive = "checkpoint-passive"
  case vacuum
  /// Closed and opened again.
  case reopen

  static let beginnings: [ImageKind] = [.create, .migrate, .reinstall, .salvage]
  static let operations = allCases.filter { !beginnings.contains($0) }

  /// When its last commit survives a power cut.
  var promise: CommitPromise {
    switch self {
    case .attempt, .finish, .confirm: .soon
    default: .durable
    }
  }
}

/// Operations one after the other; the first may be a beginning.
struct ImageWorkload: Hashable, Sendable {
  var kinds: [ImageKind]

  var name: String { kinds.map(\.rawValue).joined(separator: ",") }

  init(_ kinds: [ImageKind]) { self.kinds = kinds }

  /// Nil if it is not the name of one.
  init?(name: String) {
    kinds = []
    for word in name.split(separator: ",") {
      guard let kind = ImageKind(rawValue: String(word)) else { return nil }
      guard !ImageKind.beginnings.contains(kind) || kinds.isEmpty else { return nil }
      kinds.append(kind)
    }
    guard !kinds.isEmpty else { return nil }
  }

  /// Each sequence of up to so many operations. The images are those of its last one: those of the others belong to
  /// the shorter sequences.
  static func all(depth: Int) -> [ImageWorkload] {
    var last = ImageKind.allCases.map { ImageWorkload([$0]) }
    var all = last
    for _ in 1..<max(depth, 1) {
      last = last.flatMap { head in ImageKind.operations.map { ImageWorkload(head.kinds + [$0]) } }
      all += last
    }
    return all
  }
}
