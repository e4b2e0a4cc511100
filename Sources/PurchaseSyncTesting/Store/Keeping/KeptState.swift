import AppStoreReceipts
import Foundation
import PurchaseQueue

/// Everything of a mock server that its file keeps next to the backend's tables: a restarted server goes on with it.
///
/// All of it is `Codable` by synthesis, so that a new property of the store is kept without another line. Parts that
/// grow with the purchases are ``StoreRows`` and ``StoreLog``; the rest is one document.
struct KeptState: Codable {
  var store: StoreModel
  /// See ``MockState/clockShift``.
  var clockShift: Int64 = 0
  var revokedTokens: Set<String> = []
  /// See ``Credentials/deleted``.
  var deletedAccounts: [String: Int] = [:]
  /// Where the store posts its notifications; nil for this server's own backend.
  var notificationURL: String?
}

/// What the file has of a server's state, so that only changes are written.
///
/// A pure value. The owner calls ``changes(of:now:)`` after each step and makes the writes durable, in their order.
struct StoreKeeper: Sendable {
  /// The part of the document, and its key. The name of no property is empty.
  private static let document = (part: "", key: "document")
  private static let moment = (part: "", key: "moment")

  private var lastDocument: String?
  private var mark: StoreMark?

  init() {}

  /// The writes that bring the file up to the state; none if it is. Marks the store's rows as written.
  mutating func changes(of state: inout KeptState, now: Timestamp) throws -> [StoreRowWrite] {
    // Another mark: the whole model was replaced, and its rows know nothing of the file.
    let sink = StoreRowSink(isWhole: !state.store.mark.isSame(as: mark))
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    if let key = StoreRowSink.key { encoder.userInfo[key] = sink }
    let text = String(decoding: try encoder.encode(state), as: UTF8.self)
    var writes = sink.isWhole ? [.clear] + sink.writes : sink.writes
    if sink.isWhole || text != lastDocument {
      writes.append(.put(part: Self.document.part, key: Self.document.key, value: text))
    }
    guard !writes.isEmpty else { return [] }
    let moment = String(now.milliseconds)
    writes.append(.put(part: Self.moment.part, key: Self.moment.key, value: moment))
    lastDocument = text
    mark = state.store.forgetChanges()
    return writes
  }

  /// The state in the rows of a file, and the server's time when it was written. Nil for a file without a store.
  mutating func state(
    in rows: [(part: String, key: String, value: String)]
  ) throws -> (state: KeptState, at: Timestamp)? {
    var parts: [String: [(key: String, value: String)]] = [:]
    var own: [String: String] = [:]
    for row in rows {
      if row.part.isEmpty {
        own[row.key] = row.value
      } else {
        parts[row.part, default: []].append((row.key, row.value))
      }
    }
    guard let text = own[Self.document.key] else { return nil }
    let decoder = JSONDecoder()
    if let key = StoreRowSource.key { decoder.userInfo[key] = StoreRowSource(parts) }
    var state = try decoder.decode(KeptState.self, from: Data(text.utf8))
    lastDocument = text
    mark = state.store.forgetChanges()
    return (state, Timestamp(milliseconds: own[Self.moment.key].flatMap { Int64($0) } ?? 0))
  }
}

/// Tells a model from every other one, a copy from before the last write included. All marks are equal for `==` of models.
struct StoreMark: Sendable, Hashable, Codable {
  private final class Identity: Sendable {}

  private let identity = Identity()

  init() {}
  init(from decoder: any Decoder) {}
  func encode(to encoder: any Encoder) { _ = encoder.container(keyedBy: StoreRowText.NoKey.self) }

  func isSame(as other: StoreMark?) -> Bool { identity === other?.identity }

  static func == (left: StoreMark, right: StoreMark) -> Bool { true }
  func hash(into hasher: inout Hasher) {}
}

extension StoreKeeper {
  /// The state in a backend's file; nil for a file without a store. Throws for a store of another environment, whose
  /// transactions this one would not know.
  mutating func read(
    _ backend: BackendStore, at path: String, _ environment: StoreEnvironment
  ) throws(BackendStoreError) -> (state: KeptState, at: Timestamp)? {
    let rows = try backend.storeRows()
    let found: (state: KeptState, at: Timestamp)?
    do {
      found = try state(in: rows)
    } catch {
      throw BackendStoreError(unreadable: "the store in \(path)")
    }
    guard let found else { return nil }
    guard found.state.store.environment == environment else {
      throw BackendStoreError(
        environment: found.state.store.environment.rawValue, of: path, notOf: environment.rawValue)
    }
    return found
  }
}
