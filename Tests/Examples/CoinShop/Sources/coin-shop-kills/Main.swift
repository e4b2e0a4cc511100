import Foundation

/// Kills a process that sells, many times at random moments. Then what was paid has to be in the wallet, once.
///
///     coin-shop-kills [KILLS] [SEED] [forgets|early]
///
/// With a planted bug, the check has to fail: `forgets` is a wallet that forgets which outcomes it has credited, `early`
/// a shop that confirms an outcome before the wallet has it.
@main
struct Main {
  static func main() async {
    let arguments = CommandLine.arguments
    do {
      if arguments.count == 6, arguments[1] == "app" {
        try await App(arguments: Array(arguments.dropFirst(2))).run()
      } else {
        let kills = arguments.count > 1 ? Int(arguments[1]) : 500
        let seed = arguments.count > 2 ? UInt64(arguments[2]) : UInt64.random(in: .min ... .max)
        let bug = arguments.count > 3 ? Bug(rawValue: arguments[3]) : Bug.none
        guard let kills, let seed, let bug, kills > 0, arguments.count <= 4 else {
          throw Failure(description: "usage: coin-shop-kills [KILLS] [SEED] [forgets|early]")
        }
        try KillTrial(kills: kills, seed: seed, bug: bug).run()
      }
    } catch {
      FileHandle.standardError.write(Data("coin-shop-kills: \(error)\n".utf8))
      exit(1)
    }
  }
}

/// A bug that is put into the shop, to show that the check finds it.
enum Bug: String {
  case none, forgets, early
}

/// A wrong argument, or money that is not in the wallet once.
struct Failure: Error, CustomStringConvertible {
  var description: String
}
