/// What a path holds, found out by reading bytes: nothing on disk changes, no lock is taken or lost.
package enum DatabaseProbe: Equatable, Sendable {
  /// Nothing there, or a file without a byte.
  case absent
  /// A database with this application id and schema version in its header.
  case database(applicationID: UInt32, userVersion: UInt32)
  /// A database in which nothing has reached the main file yet: what it is, its log tells.
  case unwritten
  /// A file that is not an SQLite database.
  case notADatabase
  case directory

  package static func inspect(path: String) throws(FileError) -> DatabaseProbe {
    switch try DurableFile.kind(of: path) {
    case .absent: return .absent
    case .directory: return .directory
    case .other: return .notADatabase
    case .file: break
    }
    let header = try DatabaseImage.read(path, count: 108)
    return DatabaseProbe(header: header)
  }

  /// Reads the database header, 108 bytes of it (<https://sqlite.org/fileformat2.html#the_database_header>).
  package init(header: [UInt8]) {
    if header.isEmpty {
      self = .absent
      return
    }
    guard header.count >= 100, header.starts(with: Array("SQLite format 3\0".utf8)) else {
      self = .notADatabase
      return
    }
    func bigEndian32(_ offset: Int) -> UInt32 {
      header[offset..<offset + 4].reduce(0) { $0 << 8 | UInt32($1) }
    }
    let userVersion = bigEndian32(60)
    let applicationID = bigEndian32(68)
    // Cells on page 1: the schema table's rows. None: no table has reached the file.
    let cells = header.count >= 105 ? Int(header[103]) << 8 | Int(header[104]) : 0
    if applicationID == 0, userVersion == 0, cells == 0 {
      self = .unwritten
    } else {
      self = .database(applicationID: applicationID, userVersion: userVersion)
    }
  }
}
