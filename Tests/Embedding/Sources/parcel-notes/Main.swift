import Foundation
import PurchaseQueue

/// Queues postcards, and delivers them after a kill of the process and after the loss of the queue's file.
@main
struct ParcelNotes {
  static func main() async {
    do {
      let arguments = CommandLine.arguments
      if arguments.count == 3, arguments[1] == "write" {
        try Writer(home: Home(directory: arguments[2])).writeUntilKilled()
      } else {
        try await Story().run()
      }
    } catch {
      FileHandle.standardError.write(Data("parcel-notes: \(error)\n".utf8))
      exit(1)
    }
  }
}

/// The directories of the example.
struct Home {
  var directory: String
  var container: String { directory + "/container" }
  var path: String { container + "/postcards.sqlite" }
  /// Storage that outlives the container.
  var vault: DirectoryVault { DirectoryVault(directory: directory + "/vault") }
}

/// A promise of the queue that did not hold.
struct BrokenPromise: Error, CustomStringConvertible {
  var description: String
}

func require(_ condition: Bool, _ promise: String) throws {
  guard condition else { throw BrokenPromise(description: "broken promise: \(promise)") }
}
