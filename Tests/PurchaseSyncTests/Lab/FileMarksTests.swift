import Foundation
import PurchaseQueue
import PurchaseSQLite
import Testing

@testable import PurchaseSync

/// What was said to the system, as "mark name".
private final class MarkLog: Sendable {
  struct Refusal: Error {}

  private let told = Locked<[String]>([])
  var all: [String] { told.value }

  func marks(refusing refused: String? = nil) -> FileMarks {
    FileMarks(protect: mark("protect", refused), exclude: mark("exclude", refused))
  }

  private func mark(_ name: String, _ refused: String?) -> FileMarks.Mark {
    { path in
      let line = name + " " + (path.split(separator: "/").last ?? "")
      guard line != refused else { throw Refusal() }
      self.told.withLock { $0.append(line) }
    }
  }
}

@Suite struct FileMarksTests {
  private static func withFolder(_ files: [String], _ body: (String) async throws -> Void) async throws {
    let folder = FileManager.default.temporaryDirectory.path + "/FileMarks-" + UUID().uuidString
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    for file in files { #expect(FileManager.default.createFile(atPath: folder + "/" + file, contents: nil)) }
    try await body(folder)
    try FileManager.default.removeItem(atPath: folder)
  }

  @Test func `the file, its log, its lock and its archives are marked, and no other file`() async throws {
    let files = [
      "q.sqlite", "q.sqlite-wal", "q.sqlite-lock", "q.sqlite.damaged-1", "photos.sqlite", "aq.sqlite",
    ]
    try await Self.withFolder(files) { folder in
      let log = MarkLog()
      #expect(log.marks().markFiles(of: folder + "/q.sqlite").isEmpty)
      let own = ["q.sqlite", "q.sqlite-lock", "q.sqlite-wal", "q.sqlite.damaged-1"]
      #expect(log.all == own.flatMap { ["protect \($0)", "exclude \($0)"] })
    }
  }

  @Test(arguments: ["protect q.sqlite", "exclude q.sqlite"])
  func `a mark that fails is reported, and does not stop the others`(_ refused: String) async throws {
    try await Self.withFolder(["q.sqlite", "q.sqlite-wal"]) { folder in
      let log = MarkLog()
      let failures = log.marks(refusing: refused).markFiles(of: folder + "/q.sqlite")
      #expect(failures.count == 1 && log.all.count == 3 && !log.all.contains(refused))
    }
  }

  @Test func `a folder that cannot be listed is reported`() {
    #expect(MarkLog().marks().markFiles(of: "/no such folder/q.sqlite").count == 1)
    #expect(FileMarks().markFiles(of: "/no such folder/q.sqlite").isEmpty)
  }

  @Test func `a new folder is protected, and a folder of the app stays as it is`() async throws {
    try await Self.withFolder([]) { folder in
      let log = MarkLog()
      var configuration = SyncConfiguration(path: folder + "/new/q.sqlite")
      configuration.marks = log.marks()
      try configuration.makeFolder()
      #expect(log.all == ["protect new"])
      try configuration.makeFolder()
      #expect(log.all == ["protect new"])
    }
  }

  @Test func `a log that was made anew after the background is marked again`() async throws {
    try await BuyingFixture.with { fixture in
      let log = MarkLog()
      var configuration = try fixture.configuration()
      configuration.marks = log.marks()
      let engine = try await fixture.open(configuration)
      let marks = ["protect queue.sqlite-wal", "exclude queue.sqlite-wal", "protect queue.sqlite"]
      for mark in marks { #expect(log.all.count { $0 == mark } == 1) }
      await engine.suspend(within: 0)
      try await engine.wake(.foreground)
      for mark in marks { #expect(log.all.count { $0 == mark } == 2) }
      await engine.shutdown()
    }
  }
}
