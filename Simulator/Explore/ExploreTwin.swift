import Dispatch
import FaultInjection
import Foundation
import PurchaseQueue

/// The other process of `explore --check-determinism`: tells of lives in lines.
struct ExploreTwin {
  let options: ExploreTwinOptions

  func execute() -> Int32 {
    let exploration = options.lives()
    do throws(QueueError) {
      try ExploredDisks.prepare(options.storage)
      switch options.what {
      case .lives:
        let seeds = options.from..<options.from + UInt64(options.seeds)
        let all = try Fingerprint.all(of: seeds, jobs: options.jobs, options.lives)
        all.forEach { Terminal.line($0.line) }
      case .draws: try exploration.draws(of: options.from).forEach { Terminal.line($0.line) }
      case .story: try exploration.story(of: options.from).lines.forEach(Terminal.line)
      }
      return ExitCode.ok
    } catch {
      Terminal.error("purchase-simulator: a life could not be lived: \(error)")
      return ExitCode.internal
    }
  }
}

/// What the hidden `explore-twin` is asked to do.
struct ExploreTwinOptions: Equatable {
  enum What: String, CaseIterable {
    case lives, draws, story
  }

  var what = What.lives
  var seeds = 1
  var from: UInt64 = 1
  var profile = ExplorationProfile.swarm
  var storage = ExploredStorage.memory
  var jobs = 1
  var hasOwnRandomness = false

  @Sendable func lives() -> Exploration {
    var exploration = Explorer(profile, storage, jobs: 1).exploration
    exploration.hasOwnRandomness = hasOwnRandomness
    return exploration
  }

  static func parse(_ arguments: [String]) -> Result<ExploreTwinOptions, Command.UsageError> {
    Result { () throws(Command.UsageError) in
      var options = ExploreTwinOptions()
      var arguments = Arguments(arguments)
      while let argument = arguments.next() {
        switch argument {
        case "--lives": options.what = .lives
        case "--draws": options.what = .draws
        case "--story": options.what = .story
        case "--seeds": options.seeds = try arguments.number(of: argument)
        case "--from": options.from = try arguments.number(of: argument)
        case "--profile":
          options.profile = try ExploreOptions.named(try arguments.value(of: argument), "profile")
        case "--storage":
          options.storage = try ExploreOptions.named(try arguments.value(of: argument), "storage")
        case "--jobs": options.jobs = max(1, try arguments.number(of: argument))
        case "--own-randomness": options.hasOwnRandomness = true
        default: throw Command.UsageError(message: "explore-twin has no option '\(argument)'")
        }
      }
      return options
    }
  }
}

/// What two runs of one seed have in common.
struct Fingerprint: Sendable, Hashable {
  var seed: UInt64
  var events: Int
  var draws: Int
  var hash: UInt64

  init(_ life: Life) {
    (seed, events, draws, hash) = (life.seed, life.events, life.draws, life.hash)
  }

  /// As `line` has it.
  init(line: String) throws {
    let words = line.split(separator: " ")
    guard words.count == 4, let seed = UInt64(words[0]), let events = Int(words[1]),
      let draws = Int(words[2]), let hash = UInt64(words[3])
    else { throw ChildError(description: "the other process said '\(line)'") }
    (self.seed, self.events, self.draws, self.hash) = (seed, events, draws, hash)
  }

  var line: String { "\(seed) \(events) \(draws) \(hash)" }

  /// Of all these seeds, in order, with so many threads.
  static func all(
    of seeds: Range<UInt64>, jobs: Int, _ lives: @Sendable () -> Exploration
  ) throws(QueueError) -> [Fingerprint] {
    let found = FoundPrints()
    DispatchQueue.concurrentPerform(iterations: jobs) { job in
      let exploration = lives()
      var seed = seeds.lowerBound + UInt64(job)
      do throws(QueueError) {
        while seed < seeds.upperBound, !Interruption.shared.isAsked {
          found.add(Fingerprint(try exploration.live(seed)))
          seed += UInt64(jobs)
        }
      } catch {
        found.fail(error)
      }
    }
    return try found.all()
  }
}

private final class FoundPrints: Sendable {
  private let lock = NSLock()
  private nonisolated(unsafe) var prints: [Fingerprint] = []
  private nonisolated(unsafe) var error: QueueError?

  func add(_ print: Fingerprint) { lock.withLock { unsafe prints.append(print) } }
  func fail(_ error: QueueError) { lock.withLock { unsafe self.error = error } }

  func all() throws(QueueError) -> [Fingerprint] {
    let (prints, error) = lock.withLock { unsafe (self.prints, self.error) }
    if let error { throw error }
    return prints.sorted { $0.seed < $1.seed }
  }
}

extension Draw {
  /// Its stream comes last, and may have a space.
  var line: String { "\(number) \(event) \(at) \(bits) \(bound.map(String.init) ?? "-") \(stream)" }

  /// As `line` has it.
  init(line: String) throws {
    let words = line.split(separator: " ", maxSplits: 5)
    guard words.count == 6, let number = Int(words[0]), let event = Int(words[1]), let at = Int64(words[2]),
      let bits = UInt64(words[3]), words[4] == "-" || Int(words[4]) != nil
    else { throw ChildError(description: "the other process said '\(line)'") }
    self.init(
      stream: String(words[5]), number: number, event: event, at: at, bits: bits,
      bound: Int(words[4]))
  }
}
