import Foundation
import PurchaseQueue

/// The process that is killed: it queues postcards with the synchronous queue and prints the key of each durable one.
struct Writer {
  let home: Home

  func writeUntilKilled() throws {
    try FileManager.default.createDirectory(atPath: home.container, withIntermediateDirectories: true)
    let queue = try QueueFile(path: home.path, vault: home.vault)
    for number in 1...queue.limits.entries {
      let card = NewEntry(
        key: EntryKey(rawValue: "card-\(number)"), lane: number.isMultiple(of: 2) ? "bea" : "ada",
        details: "written on a rainy day",
        payloads: [Payload(kind: "postcard", bytes: Array("Greetings no. \(number)".utf8))])
      _ = try queue.write { try $0.enqueue(card) }
      // After the call has returned: a printed postcard survives every kill.
      FileHandle.standardOutput.write(Data("\(card.key)\n".utf8))
    }
    // The queue is full. Wait for the kill: the parent keeps this pipe open and writes nothing.
    _ = FileHandle.standardInput.readDataToEndOfFile()
    throw BrokenPromise(description: "the writer was not killed")
  }
}

extension Writer {
  /// Runs a writer as a child process, kills it after `count` postcards, and returns the keys that it printed.
  static func runAndKill(home: Home, after count: Int) throws -> [String] {
    guard let executable = Bundle.main.executableURL else {
      throw BrokenPromise(description: "this process does not know its own executable")
    }
    let child = Process()
    let (input, output) = (Pipe(), Pipe())
    child.executableURL = executable
    child.arguments = ["write", home.directory]
    child.standardInput = input
    child.standardOutput = output
    try child.run()
    var told = Data()
    while told.count(where: { $0 == UInt8(ascii: "\n") }) < count {
      let more = output.fileHandleForReading.availableData
      if more.isEmpty { break }
      told += more
    }
    kill(child.processIdentifier, SIGKILL)
    told += output.fileHandleForReading.readDataToEndOfFile()
    child.waitUntilExit()
    try input.fileHandleForWriting.close()
    try require(
      child.terminationReason == .uncaughtSignal && child.terminationStatus == SIGKILL,
      "the writer was killed in the middle")
    return String(decoding: told, as: UTF8.self).split(separator: "\n").map(String.init)
  }
}
