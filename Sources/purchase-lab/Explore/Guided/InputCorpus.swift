import Exploration
import Foundation

/// A folder of inputs, a file each: what one search has kept, the next one begins with.
struct InputCorpus {
  let folder: String
  private(set) var inputs: [MachineInput] = []
  private var names: Set<String> = []

  /// A folder holds no more of them: each search runs all.
  private static let most = 256

  /// Reads every file, in the order of the names. A folder that does not exist is an empty one.
  init(_ folder: String) throws {
    self.folder = folder
    guard FileManager.default.fileExists(atPath: folder) else { return }
    for name in try FileManager.default.contentsOfDirectory(atPath: folder).sorted()
    where name.hasSuffix(".json") {
      inputs.append(try InputFile.read(folder + "/" + name))
      names.insert(name)
    }
  }

  /// Adds inputs in their order until the folder is full. Two searches may write to one folder: the name follows from the
  /// content. Returns how many files are new.
  func add(_ inputs: [MachineInput]) throws -> Int {
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    var known = names
    for input in inputs where known.count < Self.most {
      let text = try input.text()
      let name = InputFile.name("input", text)
      guard known.insert(name).inserted else { continue }
      try InputFile.write(text, to: folder + "/" + name)
    }
    return known.count - names.count
  }
}

/// One input in a file.
enum InputFile {
  static func read(_ path: String) throws -> MachineInput {
    let data: Data
    do {
      data = try Data(contentsOf: URL(fileURLWithPath: path))
    } catch {
      throw InputFileError(
        path: path, reason: "it cannot be read: \(error.localizedDescription)", isThere: false)
    }
    do {
      return try MachineInput(text: String(decoding: data, as: UTF8.self))
    } catch {
      throw InputFileError(path: path, reason: "\(error)", isThere: true)
    }
  }

  static func write(_ text: String, to path: String) throws {
    try Data(text.utf8).write(to: URL(fileURLWithPath: path), options: .atomic)
  }

  /// `PREFIX-` and a hash of the text.
  static func name(_ prefix: String, _ text: String) -> String {
    var hash = RunHash()
    for byte in text.utf8 { hash.add(UInt64(byte)) }
    let digits = String(hash.value, radix: 16)
    return prefix + "-" + String(repeating: "0", count: 16 - digits.count) + digits + ".json"
  }
}

/// Why a file with an input cannot be used.
struct InputFileError: Error, CustomStringConvertible {
  var path: String
  var reason: String
  /// Whether the file could be read.
  var isThere: Bool

  var description: String { "\(path): \(reason)" }
}
