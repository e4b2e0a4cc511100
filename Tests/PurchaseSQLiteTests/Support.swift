import Foundation
import PurchaseSQLite
import Testing

/// Runs `body` with a new directory and removes it afterwards, also if `body` throws.
func withTemporaryDirectory(_ body: (String) throws -> Void) throws {
  let directory = try makeTemporaryDirectory()
  defer { removeTemporaryDirectory(directory) }
  try body(directory)
}

func withTemporaryDirectory(_ body: (String) async throws -> Void) async throws {
  let directory = try makeTemporaryDirectory()
  defer { removeTemporaryDirectory(directory) }
  try await body(directory)
}

/// Runs `body` with the path of a database file that does not exist yet.
func withDatabasePath(_ body: (String) throws -> Void) throws {
  try withTemporaryDirectory { directory in try body(directory + "/test.sqlite") }
}

private func makeTemporaryDirectory() throws -> String {
  let directory = FileManager.default.temporaryDirectory
    .appendingPathComponent("PurchaseSQLiteTests-\(UUID().uuidString)", isDirectory: true)
  try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
  return directory.path
}

private func removeTemporaryDirectory(_ directory: String) {
  do {
    try FileManager.default.removeItem(atPath: directory)
  } catch {
    Issue.record(error, "the temporary directory stays behind")
  }
}

func write(_ bytes: some Sequence<UInt8>, to path: String) throws {
  try Data(bytes).write(to: URL(fileURLWithPath: path))
}

/// Every file of a directory with its bytes.
func snapshot(of directory: String) throws -> [String: Data] {
  var files: [String: Data] = [:]
  for name in try FileManager.default.contentsOfDirectory(atPath: directory) {
    let path = directory + "/" + name
    let type = try FileManager.default.attributesOfItem(atPath: path)[.type] as? FileAttributeType
    files[name] = type == .typeDirectory ? Data() : try Data(contentsOf: URL(fileURLWithPath: path))
  }
  return files
}

/// The SQLite error that `body` throws, or nil. Any other error fails the test.
func sqliteFailure(_ body: () throws -> Void) -> SQLiteError? {
  do {
    try body()
    return nil
  } catch let error as SQLiteError {
    return error
  } catch {
    Issue.record(error, "not an SQLiteError")
    return nil
  }
}

/// The file error that `body` throws, or nil. Any other error fails the test.
func fileFailure(_ body: () throws -> Void) -> FileError? {
  do {
    try body()
    return nil
  } catch let error as FileError {
    return error
  } catch {
    Issue.record(error, "not a FileError")
    return nil
  }
}

/// A second connection that does not wait for locks.
func impatientConnection(_ path: String) throws -> Connection {
  let connection = try Connection(path: path, access: .readWrite, busyTimeoutMilliseconds: 0)
  try connection.applyConnectionSettings()
  return connection
}

extension Connection {
  func integer(_ sql: String) throws -> Int64? { try prepare(sql).first { $0.integer(0) } }

  func text(_ sql: String) throws -> String? { try prepare(sql).first { $0.text(0) } }

  func integers(_ sql: String) throws -> [Int64] { try prepare(sql).all { $0.integer(0) } }
}
