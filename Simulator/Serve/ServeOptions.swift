import Foundation
import PurchaseSyncTesting

/// What `serve` is asked to do.
struct ServeOptions: Equatable {
  /// 0: one that is free.
  var port: UInt16 = 8080
  var host = "127.0.0.1"
  /// Nil: a new one, removed at the end.
  var database: String?
  /// A file with a plan; see `FaultPlanDocument`.
  var faults: String?
  /// How much faster than the real clock the world's goes.
  var speed = 1.0
  var seed: UInt64 = 1
  /// A backend that is wrong on purpose.
  var broken: BrokenBackend?
  /// The addresses as one document, for whoever starts it from a program.
  var json = false

  private static let names = [
    "--port", "--host", "--database", "--faults", "--speed", "--seed", "--broken", "--json",
  ]

  static func parse(_ arguments: [String]) -> Result<ServeOptions, Command.UsageError> {
    Result { () throws(Command.UsageError) in try read(arguments) }
  }

  private static func read(_ arguments: [String]) throws(Command.UsageError) -> ServeOptions {
    var options = ServeOptions()
    var arguments = Arguments(arguments)
    while let argument = arguments.next() {
      switch argument {
      case "--port": options.port = try arguments.number(of: argument)
      case "--json": options.json = true
      case "--host": options.host = try arguments.value(of: argument)
      case "--database": options.database = try arguments.value(of: argument)
      case "--faults": options.faults = try arguments.value(of: argument)
      case "--seed": options.seed = try arguments.number(of: argument)
      case "--speed":
        let text = try arguments.value(of: argument)
        guard let speed = Double(text), speed > 0, speed <= 1_000_000 else {
          throw Command.UsageError(message: "--speed needs a number above 0, up to 1000000, not '\(text)'")
        }
        options.speed = speed
      case "--broken":
        let name = try arguments.value(of: argument)
        guard let broken = BrokenBackend(rawValue: name) else {
          let nearest = Nearest.name(to: name, in: BrokenBackend.allCases.map(\.rawValue))
          throw Command.UsageError(message: "--broken knows no '\(name)'\(nearest)")
        }
        options.broken = broken
      default:
        let nearest = Nearest.name(to: argument, in: names)
        throw Command.UsageError(message: "serve has no option '\(argument)'\(nearest)")
      }
    }
    return options
  }

  /// Only this machine can reach it.
  var isLoopback: Bool { host == "localhost" || host.hasPrefix("127.") }
}
