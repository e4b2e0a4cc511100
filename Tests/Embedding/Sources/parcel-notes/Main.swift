import Foundation
import PurchaseQueue

/// Postcards that wait in a queue for the post, over a kill and over the loss of the queue's file.
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

/// Where everything is.
struct Home {
  var directory: String
  var container: String { directory + "/container" }
  var path: String { container + "/postcards.sqlite" }
  /// What outlives the container.
  var vault: DirectoryVault { DirectoryVault(directory: directory + "/vault") }
}

/// What should have been, and was not.
struct BrokenPromise: Error, CustomStringConvertible {
  var description: String
}

func require(_ condition: Bool, _ promise: String) throws {
  guard condition else { throw BrokenPromise(description: "broken promise: \(promise)") }
}
