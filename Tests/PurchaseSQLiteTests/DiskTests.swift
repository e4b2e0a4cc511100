import Foundation
import PurchaseSQLite
import Testing

@Suite struct DiskTests {
  @Test(arguments: [0, 1, 65_535, 65_536, 65_537, 300_000])
  func `A replaced file holds exactly the new bytes`(count: Int) throws {
    try withTemporaryDirectory { directory in
      let path = directory + "/file"
      let bytes = (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 31) }
      try Disk.system.replace(path, with: [UInt8](repeating: 9, count: 400_000))
      try Disk.system.replace(path, with: bytes)
      #expect(try Disk.system.read(path) == bytes)
      #expect(try Disk.system.size(of: path) == count)
      #expect(try Disk.system.names(in: directory) == ["file"])
    }
  }

  @Test(
    arguments: [
      (0, 4, [0, 1, 2, 3]), (8, 4, [8, 9]), (3, 0, []), (10, 4, []), (500, 1, []), (0, Int.max, Array(0...9)),
    ] as [(Int, Int, [UInt8])])
  func `A partial read ends at the end of the file`(offset: Int, count: Int, expected: [UInt8]) throws {
    try withTemporaryDirectory { directory in
      let path = directory + "/file"
      try write(0...9, to: path)
      #expect(try Disk.system.read(path, from: offset, count: count) == expected)
    }
  }

  @Test func `A new file is readable for its owner alone`() throws {
    try withTemporaryDirectory { directory in
      try Disk.system.replace(directory + "/file", with: [1])
      #expect(try permissions(directory + "/file") == 0o600)
      try write([1], to: directory + "/open")
      try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: directory + "/open")
      try Disk.system.createForOwner(directory + "/open")
      #expect(try permissions(directory + "/open") == 0o600)
    }
  }

  @Test func `A leftover temporary file, longer than the new content, does no harm`() throws {
    try withTemporaryDirectory { directory in
      let path = directory + "/file"
      try write([UInt8](repeating: 0xff, count: 10_000), to: path + ".tmp")
      try Disk.system.replace(path, with: [1, 2, 3])
      #expect(try Disk.system.read(path) == [1, 2, 3])
      #expect(try Disk.system.names(in: directory) == ["file"])
    }
  }

  @Test func `A replacement that cannot be written leaves the old content`() throws {
    try withTemporaryDirectory { directory in
      let path = directory + "/file"
      try Disk.system.replace(path, with: [1])
      try Disk.system.createDirectory(path + ".tmp")
      let error = fileFailure { try Disk.system.replace(path, with: [2]) }
      #expect(error?.operation == "open")
      #expect(error?.path == path + ".tmp")
      #expect(error?.reason.isEmpty == false)
      #expect(try Disk.system.read(path) == [1])
    }
  }

  @Test func `A replacement that cannot be renamed leaves no temporary file`() throws {
    try withTemporaryDirectory { directory in
      let path = directory + "/file"
      try Disk.system.createDirectory(path)
      let error = fileFailure { try Disk.system.replace(path, with: [2]) }
      #expect(error?.operation == "rename")
      #expect(try Disk.system.names(in: directory) == ["file"])
      #expect(try Disk.system.kind(of: path) == .directory)
    }
  }

  #if os(Linux)
    @Test func `A full disk leaves the old content and no temporary file`() throws {
      try withTemporaryDirectory { directory in
        let path = directory + "/file"
        try Disk.system.replace(path, with: [1])
        try FileManager.default.createSymbolicLink(atPath: path + ".tmp", withDestinationPath: "/dev/full")
        let error = fileFailure { try Disk.system.replace(path, with: [2]) }
        #expect(error?.operation == "write")
        #expect(try Disk.system.read(path) == [1])
        #expect(try Disk.system.names(in: directory) == ["file"])
      }
    }
  #endif

  @Test func `A removed file is absent and removing it again is fine`() throws {
    try withTemporaryDirectory { directory in
      let path = directory + "/file"
      try Disk.system.replace(path, with: [1])
      try Disk.system.remove(path)
      #expect(try Disk.system.kind(of: path) == .absent)
      #expect(try Disk.system.size(of: path) == 0)
      try Disk.system.remove(path)
      #expect(fileFailure { _ = try Disk.system.read(path) }?.operation == "open")
    }
  }

  @Test func `A directory is not removed as a file`() throws {
    try withTemporaryDirectory { directory in
      #expect(fileFailure { try Disk.system.remove(directory) }?.operation == "unlink")
      let kind = try Disk.system.kind(of: directory)
      #expect(kind == .directory)
    }
  }

  @Test(arguments: ["a", "a/b/c/d", "a/b/", "Käufe/für mich"])
  func `A directory is created with its parents, for the owner alone`(relative: String) throws {
    try withTemporaryDirectory { directory in
      let path = directory + "/" + relative
      try Disk.system.createDirectory(path)
      try Disk.system.createDirectory(path)
      #expect(try Disk.system.kind(of: path) == .directory)
      #expect(try permissions(path) == 0o700)
      #expect(try permissions(directory + "/" + relative.prefix { $0 != "/" }) == 0o700)
    }
  }

  @Test(arguments: ["file", "file/below", "file/far/below"])
  func `A file in the way of a directory is an error`(relative: String) throws {
    try withTemporaryDirectory { directory in
      try write([1], to: directory + "/file")
      let error = fileFailure { try Disk.system.createDirectory(directory + "/" + relative) }
      #expect(error?.operation == "mkdir")
      #expect(try Disk.system.read(directory + "/file") == [1])
    }
  }

  @Test func `Names are sorted and complete`() throws {
    try withTemporaryDirectory { directory in
      let long = String(repeating: "n", count: 255)
      for name in ["b", "ä", ".hidden", "a b", long] { try write([], to: directory + "/" + name) }
      #expect(try Disk.system.names(in: directory) == [".hidden", "a b", "b", long, "ä"])
      #expect(fileFailure { _ = try Disk.system.names(in: directory + "/absent") }?.operation == "opendir")
    }
  }

  @Test(arguments: [("/a/b", "/a"), ("/a", "/"), ("a/b", "a"), ("a", nil)] as [(String, String?)])
  func `The parent of a path`(path: String, parent: String?) {
    #expect(Disk.parent(of: path) == parent)
  }

  @Test func `An error names the call, the path and the reason`() throws {
    try withTemporaryDirectory { directory in
      let path = directory + "/absent"
      let error = try #require(fileFailure { _ = try Disk.system.read(path) })
      #expect("\(error)" == "open \(path): \(error.reason) (errno 2)")
    }
  }

  private func permissions(_ path: String) throws -> Int? {
    let attributes = try FileManager.default.attributesOfItem(atPath: path)
    return (attributes[.posixPermissions] as? NSNumber)?.intValue
  }
}
