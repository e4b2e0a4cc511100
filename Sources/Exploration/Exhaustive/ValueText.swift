import Foundation
import PurchaseQueue
import PurchaseSQLite
import PurchaseSync

/// Writes a value as text, with everything in it, private properties too: two values with one text behave alike.
///
/// It reads the properties by reflection, so that a property that is added to the machine or the storage counts without a
/// change here. Moments are written by their distance from now; what cannot influence a decision is left out.
struct ValueText {
  private(set) var bytes: [UInt8] = []
  private let now: Int64

  /// Ages from here on are the same: the pace after a failure is the longest that a decision asks about.
  private static let longestAge: Int64 = 1_000

  init(now: Int64) {
    self.now = now
    bytes.reserveCapacity(4_096)
  }

  var text: String { String(decoding: bytes, as: UTF8.self) }

  mutating func add(_ word: String) {
    bytes.append(contentsOf: word.utf8)
    bytes.append(UInt8(ascii: " "))
  }

  mutating func add(moment: Int64) {
    switch moment {
    case 0, .max, SmallWorld.storeNow: add("@\(moment)")
    default: add("\(max(moment - now, -Self.longestAge))ms")
    }
  }

  /// How the values of a type are written.
  private enum Kind {
    case moment, wait, text, int, int64, flag, key, id, number, transaction, tombstone, proof, leftOut,
      storeSide, parts
  }

  /// By type: a cast takes longer than all the rest.
  private static let kinds = Locked<[ObjectIdentifier: Kind]>([:])

  private static func kind(of value: Any) -> Kind {
    let type = type(of: value)
    if let known = kinds.withLock({ $0[ObjectIdentifier(type)] }) { return known }
    let kind: Kind =
      switch value {
      case is Timestamp: .moment
      case is Wait: .wait
      case is String: .text
      case is Int: .int
      case is Int64: .int64
      case is Bool: .flag
      case is EntryKey: .key
      case is UUID: .id
      case is StoreTransaction: .transaction
      case is Tombstone: .tombstone
      case is PayloadReference: .proof
      case is any BinaryInteger: .number
      // No range that is drawn from has two numbers. The policy and the limits are constants. The storage is written
      // apart.
      case is RandomSource, is RetryPolicy, is QueueLimits, is SmallStorage: .leftOut
      default: "\(type)" == "StoreSide" ? .storeSide : .parts
      }
    kinds.withLock { $0[ObjectIdentifier(type)] = kind }
    return kind
  }

  mutating func add(value: Any) {
    switch Self.kind(of: value) {
    case .moment: add(moment: (value as? Timestamp)?.milliseconds ?? 0)
    case .wait: if let wait = value as? Wait { add(wait: wait) }
    case .text: add("'\(value as? String ?? "")'")
    case .int: add("\(value as? Int ?? 0)")
    case .int64: add("\(value as? Int64 ?? 0)")
    case .flag: add(value as? Bool == true ? "+" : "-")
    case .key: add((value as? EntryKey)?.rawValue ?? "")
    case .id, .number: add("\(value)")
    // There is one transaction for each purchase, and one proof of it.
    case .transaction: add("#\((value as? StoreTransaction)?.transactionID ?? "")")
    case .proof: add((value as? PayloadReference)?.kind ?? "")
    case .tombstone: if let tombstone = value as? Tombstone { add(tombstone: tombstone) }
    case .leftOut: return
    case .parts, .storeSide: addParts(of: value)
    }
  }

  /// No wait is shortened that is longer than what was asked for: none is drawn.
  private mutating func add(wait: Wait) {
    add(moment: wait.ends.milliseconds)
    add(wait.asked > 0 ? "asked" : "own")
  }

  /// How it came about is only shown.
  private mutating func add(tombstone: Tombstone) {
    add(tombstone.key.rawValue)
    add(tombstone.lane.rawValue)
    add(tombstone.orderNumber ?? "nil")
    add(tombstone.isFinishPending ? "+" : "-")
    add(tombstone.isUnconfirmed ? "+" : "-")
  }

  private mutating func addParts(of value: Any) {
    let mirror = Mirror(reflecting: value)
    switch mirror.displayStyle {
    case .optional:
      guard let some = mirror.children.first else { return add("nil") }
      add(value: some.value)
    case .dictionary, .set: addSorted(mirror.children)
    case .enum:
      guard let payload = mirror.children.first else { return add("\(value)") }
      add("." + (payload.label ?? ""))
      add(value: payload.value)
    case nil: add("\(value)")
    default:
      add("(")
      for child in mirror.children {
        if let label = child.label, Self.leftOut.contains(label) { continue }
        if let label = child.label, Self.counts.contains(label) {
          add("\(child.value)" == "0" ? "0" : "1")
        } else if child.label == "account", Self.kind(of: value) == .storeSide {
          continue
        } else if child.label == "buried" {
          // The order matters; what the records hold is written with them.
          for record in Mirror(reflecting: child.value).children {
            if let key = Mirror(reflecting: record.value).children.first { add(value: key.value) }
          }
        } else {
          add(value: child.value)
        }
      }
      add(")")
    }
  }

  /// Properties that no decision of the small world reads: what counts for an entry that failed eight times, is postponed,
  /// or has another one before it or behind it in its lane; numbers of proofs, of which each transaction has one; and
  /// moments that are only shown. And what follows from the rest: indexes of records and of orders.
  private static let leftOut: Set<String> = [
    "enqueuedAt", "attemptedAt", "settledAt", "succeededAt", "unwellAt", "failingSince", "lastRecord",
    "record", "lines",
    "place",
    "lastPlace", "proofs", "lastProof", "sendsDueFirst", "storeAccount", "fullAt",
    "repeats", "slotByNumber", "slotByToken", "shelfOfOrder", "shelves", "shelfByProduct",
  ]

  /// Counts of which only the first step matters: no delay grows, because none is drawn, and no limit is near.
  private static let counts: Set<String> = [
    "attempts", "failures", "failedRounds", "pacedSendsLeft",
  ]

  /// Dictionaries and sets have another order in each process.
  private mutating func addSorted(_ children: Mirror.Children) {
    var parts: [String] = []
    for child in children {
      var part = ValueText(now: now)
      part.add(value: child.value)
      parts.append(part.text)
    }
    add("{")
    for part in parts.sorted() { add(part) }
    add("}")
  }
}
