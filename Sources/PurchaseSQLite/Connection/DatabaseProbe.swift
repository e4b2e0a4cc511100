/// The kind of file at a path. Found out by reading bytes: nothing on disk changes, and no lock is taken or lost.
package enum DatabaseProbe: Equatable, Sendable {
  /// No file, or an empty file.
  case absent
  /// A database, with the application id and the schema version of its header.
  case database(applicationID: UInt32, userVersion: UInt32)
  /// A database of which no table has reached the main file yet. Only its log says what it is.
  case unwritten
  /// A file that is not an SQLite database.
  case notADatabase
  case directory

  package static func inspect(path: String, on disk: Disk = .system) throws(FileError) -> DatabaseProbe {
    try read(path: path, on: disk).probe
  }

  /// The kind of file, and the first 108 bytes of one that could be a database.
  package static func read(
    path: String, on disk: Disk = .system
  ) throws(FileError) -> (probe: DatabaseProbe, header: [UInt8]) {
    switch try disk.kind(of: path) {
    case .absent: return (.absent, [])
    case .directory: return (.directory, [])
    case .other: return (.notADatabase, [])
    case .file: break
    }
    let header = try DatabaseImage.read(path, on: disk, count: 108)
    return (DatabaseProbe(header: header), header)
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
    // Cells on page 1 are the rows of the schema table. Without one, no table has reached the file.
    let cells = header.count >= 105 ? Int(header[103]) << 8 | Int(header[104]) : 0
    if applicationID == 0, userVersion == 0, cells == 0 {
      self = .unwritten
    } else {
      self = .database(applicationID: applicationID, userVersion: userVersion)
    }
  }
}
