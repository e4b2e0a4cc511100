import Foundation

/// Records and sends events in a process that is killed many times, then checks that every event has arrived.
///
///     event-outbox [KILLS]
@main
struct EventOutbox {
  static func main() async {
    let arguments = CommandLine.arguments
    do {
      if arguments.count == 4, arguments[1] == "app" {
        try await App(directory: arguments[2], launch: arguments[3]).run()
      } else {
        guard let kills = arguments.count > 1 ? Int(arguments[1]) : 500, kills > 0, arguments.count <= 2
        else {
          throw Failure(description: "usage: event-outbox [KILLS]")
        }
        try KillTrial(kills: kills).run()
      }
    } catch {
      FileHandle.standardError.write(Data("event-outbox: \(error)\n".utf8))
      exit(1)
    }
  }
}

/// A wrong argument, or an event that did not arrive.
struct Failure: Error, CustomStringConvertible {
  var description: String
}
