import Foundation
import PurchaseSync
import Testing

@Suite struct AppReceiptFileTests {
  private func withFile(_ body: (String) async throws -> Void) async throws {
    let directory = FileManager.default.temporaryDirectory.path + "/AppReceiptFileTests-" + UUID().uuidString
    try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
    defer {
      do {
        try FileManager.default.removeItem(atPath: directory)
      } catch {
        Issue.record(error, "the temporary directory cannot be removed")
      }
    }
    try await body(directory + "/receipt")
  }

  @Test func `the current receipt is read again each time`() async throws {
    try await withFile { path in
      let file = AppReceiptFile(path: path)
      #expect(try await file.read() == nil)
      try Data([0x30, 0x80, 1]).write(to: URL(fileURLWithPath: path))
      #expect(try await file.read() == [0x30, 0x80, 1])
      try Data([0x30]).write(to: URL(fileURLWithPath: path))
      #expect(try await file.read() == [0x30])
    }
  }

  @Test func `a missing path, an empty file and a folder give no receipt`() async throws {
    #expect(try await AppReceiptFile(path: nil).read() == nil)
    try await withFile { path in
      try Data().write(to: URL(fileURLWithPath: path))
      #expect(try await AppReceiptFile(path: path).read() == nil)
      #expect(
        try await AppReceiptFile(path: URL(fileURLWithPath: path).deletingLastPathComponent().path).read()
          == nil)
    }
  }

  @Test func `a file too long for any backend is refused and does not count as absent`() async throws {
    try await withFile { path in
      #expect(FileManager.default.createFile(atPath: path, contents: nil))
      let handle = try #require(FileHandle(forWritingAtPath: path))
      try handle.truncate(atOffset: (12 << 20) + 1)
      try handle.close()
      await #expect(throws: StoreError.receiptUnreadable(reason: "it has more than 12582912 bytes")) {
        try await AppReceiptFile(path: path).read()
      }
    }
  }

  @Test func `a path through a file is an error that names it`() async throws {
    try await withFile { path in
      try Data([1]).write(to: URL(fileURLWithPath: path))
      await #expect(throws: StoreError.self) { try await AppReceiptFile(path: path + "/receipt").read() }
    }
  }
}
