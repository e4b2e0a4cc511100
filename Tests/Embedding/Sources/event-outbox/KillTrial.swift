import Foundation

/// Kills the app many times, lets it send what is left, and compares what it recorded with what arrived.
struct KillTrial {
  let kills: Int

  func run() throws {
    let directory = FileManager.default.temporaryDirectory.path + "/event-outbox-" + UUID().uuidString
    try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
    let result = Result { try run(in: directory) }
    try FileManager.default.removeItem(atPath: directory)
    try result.get()
  }

  private func run(in directory: String) throws {
    var recorded: [String] = []
    for kill in 1...kills {
      recorded += try launch("\(kill)", in: directory, killedAfter: Int.random(in: 0...6))
    }
    guard try launch("last", in: directory, killedAfter: nil).isEmpty else {
      throw Failure(description: "the last launch recorded an event")
    }
    let received = try String(contentsOfFile: directory + "/received", encoding: .utf8)
      .split(separator: "\n").map(String.init)
    let distinct = Set(received)
    let lost = recorded.filter { !distinct.contains($0) }
    print(
      "killed \(kills) times: \(recorded.count) events were recorded, \(distinct.count) arrived, "
        + "\(received.count - distinct.count) of them again with the same identifier, \(lost.count) were lost"
    )
    guard lost.isEmpty else { throw Failure(description: "lost: \(lost.joined(separator: ", "))") }
    guard !recorded.isEmpty else { throw Failure(description: "no event was recorded") }
    // First arrivals are in the order of recording.
    var firsts: [String] = []
    var seen: Set<String> = []
    for id in received where seen.insert(id).inserted { firsts.append(id) }
    let told = Set(recorded)
    guard firsts.filter({ told.contains($0) }) == recorded else {
      throw Failure(description: "the events arrived in another order")
    }
  }

  /// Launches the app, kills it after so many events, and returns the events that it said to have recorded.
  private func launch(_ name: String, in directory: String, killedAfter count: Int?) throws -> [String] {
    guard let executable = Bundle.main.executableURL else {
      throw Failure(description: "this process does not know its own executable")
    }
    let child = Process()
    let output = Pipe()
    child.executableURL = executable
    child.arguments = ["app", directory, name]
    child.standardOutput = output
    try child.run()
    var told = Data()
    if let count {
      while told.count(where: { $0 == UInt8(ascii: "\n") }) < count {
        let more = output.fileHandleForReading.availableData
        if more.isEmpty { break }
        told += more
      }
      kill(child.processIdentifier, SIGKILL)
    }
    told += output.fileHandleForReading.readDataToEndOfFile()
    child.waitUntilExit()
    let wasKilled = child.terminationReason == .uncaughtSignal && child.terminationStatus == SIGKILL
    guard count == nil ? child.terminationStatus == 0 : wasKilled else {
      throw Failure(description: "launch \(name) ended by itself with status \(child.terminationStatus)")
    }
    return String(decoding: told, as: UTF8.self).split(separator: "\n").map(String.init)
  }
}
