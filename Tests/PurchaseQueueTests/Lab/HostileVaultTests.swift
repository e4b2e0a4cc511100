import Foundation
import PurchaseSQLite
import Testing

@testable import PurchaseQueue

/// Items that no queue has written: they end no process, and keep no other item out.
@Suite struct HostileVaultTests {
  /// The JSON of an entry's item, with one part replaced.
  private static func item(_ name: String, _ part: String = "", _ new: String = "") -> VaultItem {
    let json = """
      {"key":"\(name)","place":1,"lane":"device","details":"d","enqueuedAt":1700000000000,
       "payloads":[{"kind":"k","size":3,"name":"abc-3","chunks":1}]}
      """
    return VaultItem(name: "entry." + name, bytes: Array(json.replacingOccurrences(of: part, with: new).utf8))
  }

  private static let parts: [(String, String)] = [
    ("\"size\":3", "\"size\":-1"), ("\"size\":3", "\"size\":9223372036854775807"),
    ("\"size\":3", "\"size\":-9223372036854775808"), ("\"chunks\":1", "\"chunks\":-9223372036854775808"),
    ("\"chunks\":1", "\"chunks\":9223372036854775807"), ("\"chunks\":1", "\"chunks\":0"),
    ("\"place\":1", "\"place\":9223372036854775807"), ("\"place\":1", "\"place\":-9223372036854775808"),
    ("1700000000000", "9223372036854775807"), ("1700000000000", "-9223372036854775808"),
    ("\"kind\":\"k\"", "\"kind\":\"\""), ("\"kind\":\"k\"", "\"kind\":\"a\\n1 3 b\""),
    ("\"kind\":\"k\"", "\"kind\":\"" + String(repeating: "k", count: 65) + "\""),
    ("\"lane\":\"device\"", "\"lane\":\"" + String(repeating: "l", count: 9_000) + "\""),
    ("\"details\":\"d\"", "\"details\":\"" + String(repeating: "d", count: 90_000) + "\""),
    (
      "\"payloads\":[", "\"payloads\":[" + String(repeating: #"{"kind":"k","size":3,"chunks":1},"#, count: 40)
    ),
    ("{", ""), ("\"key\"", "\"no\""),
  ]

  @Test(arguments: parts.indices)
  func `an item that lies ends no process and keeps no other item out`(part: Int) async throws {
    try await withTemporaryDirectory { directory in
      let vault = DirectoryVault(directory: directory + "/vault", itemBytes: 1 << 20)
      try vault.store(Self.item("bad", Self.parts[part].0, Self.parts[part].1))
      try vault.store(Self.item("good"))
      for _ in 0..<3 {
        let queue = try QueueFile(path: directory + "/q", vault: vault, now: noon)
        #expect(queue.vaultProblem == nil)
        #expect(try queue.entry(key("good"))?.payloads.map(\.size) == [3])
        let all = try queue.allEntries()
        #expect(all.flatMap(\.payloads).allSatisfy { $0.size >= 0 && Payload.isKind($0.kind) })
        #expect(all.allSatisfy { $0.enqueuedAt <= noon })
        for entry in all {
          let text = [entry.key.rawValue, entry.lane.rawValue, entry.details].reduce(0) { $0 + $1.utf8.count }
          #expect(text <= queue.limits.textBytes)
        }
        _ = try queue.health()
        try queue.maintain(now: noon)
      }
    }
  }

  @Test func `an item that cannot be read is reported at each opening, and stays`() async throws {
    try await withTemporaryDirectory { directory in
      let vault = DirectoryVault(directory: directory + "/vault")
      try vault.store(VaultItem(name: "entry.bad", bytes: Array("secret".utf8)))
      let reports = Locked<[Diagnostic]>([])
      for _ in 0..<2 {
        var setup = QueueSetup(path: directory + "/q", vault: vault)
        setup.diagnostics = { report in reports.withLock { $0.append(report) } }
        _ = try QueueFile(setup, now: noon)
      }
      #expect(reports.value.map(\.subject) == ["entry.bad", "entry.bad"])
      #expect(!reports.value.contains { $0.description.contains("secret") })
      #expect(try vault.list() == ["entry.bad"])
    }
  }
}
