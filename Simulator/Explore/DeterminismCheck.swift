import Dispatch
import FaultInjection
import Foundation
import PurchaseQueue

/// `explore --check-determinism`: every life twice, here and in another process, whose hashing is seeded differently
/// (invariant 28). Both at the same time, each with half of the cores.
struct DeterminismCheck {
  let options: ExploreOptions
  /// This program, for the other process.
  var program = ChildProcess.executable.path
  /// A bug that tests plant, to see that it is found.
  var hasOwnRandomness = false

  private var jobs: Int { max(1, (options.jobs > 0 ? options.jobs : Jobs.usualWidth) / 2) }

  func execute() throws -> Int32 {
    var done = 0
    // Lives until both processes are compared: as many as take about a second.
    var batch = 16
    let progress = Progress(count: options.seeds, isShown: true)
    while done < options.seeds, !Interruption.shared.isAsked {
      let begin = options.from + UInt64(done)
      let started = ProcessInfo.processInfo.systemUptime
      let count = min(batch, options.seeds - done)
      do {
        if let divergence = try divergence(begin..<begin + UInt64(count)) {
          progress.clear()
          Terminal.line(divergence)
          return ExitCode.promiseBroken
        }
      } catch {
        // The other process ends with this one, and says nothing then.
        guard Interruption.shared.isAsked else { throw error }
        break
      }
      done += count
      batch = Self.batch(behind: count, after: ProcessInfo.processInfo.systemUptime - started)
      progress.step(by: count)
    }
    progress.end()
    Terminal.line(Self.verdict(done, of: options.seeds))
    if let code = Interruption.shared.exitCode { return code }
    return ExitCode.ok
  }

  /// - Parameter done: How many were compared until it was over, or until somebody ended it.
  static func verdict(_ done: Int, of all: Int) -> String {
    guard done > 0 else { return "ended before any of \(Counted.text(all, "seed")) was compared" }
    let same = Counted.text(done, "seed is", "seeds are") + " the same run in two processes"
    return done < all ? same + ", and then it was ended before its time" : same
  }

  /// As many lives as take about a second, if so many took so long; never much more than before.
  static func batch(behind count: Int, after seconds: Double) -> Int {
    let fitting = Double(count) / max(seconds, 0.001)
    return Int(min(max(fitting, 1), Double(count) * 4, 100_000))
  }

  /// What differs first in these; nil for nothing.
  func divergence(_ seeds: Range<UInt64>) throws -> String? {
    let (own, other) = try both(seeds)
    guard own.count == other.count else {
      throw ChildError(description: "the other process told of \(other.count) of \(own.count) lives")
    }
    for (left, right) in zip(own, other) where left != right {
      return try "seed \(left.seed): " + (firstDraw(of: left.seed) ?? firstEvent(left, right))
    }
    return nil
  }

  // MARK: Both processes

  /// As the other process has them.
  private var twin: ExploreTwinOptions {
    var twin = ExploreTwinOptions()
    (twin.profile, twin.storage, twin.hasOwnRandomness) = (options.profile, options.storage, hasOwnRandomness)
    return twin
  }

  private func both(_ seeds: Range<UInt64>) throws -> (own: [Fingerprint], other: [Fingerprint]) {
    let child = Background { try other(seeds, "--lives").map(Fingerprint.init(line:)) }
    let own = try Fingerprint.all(of: seeds, jobs: jobs, twin.lives)
    return (own, try child.value())
  }

  private func other(_ seeds: Range<UInt64>, _ what: String) throws -> [String] {
    var command = [
      program, "explore-twin", what, "--from", String(seeds.lowerBound), "--seeds", String(seeds.count),
      "--profile", options.profile.rawValue, "--storage", options.storage.rawValue, "--jobs", String(jobs),
    ]
    if hasOwnRandomness { command.append("--own-randomness") }
    let result = try ChildOutput(command: command)
    try Interruption.shared.check()
    guard result.status == 0 else {
      throw ChildError(description: "the other process ended with \(result.status): \(result.complaint)")
    }
    return result.lines
  }

  // MARK: The first difference

  /// Runs it once more in both, with every draw written down.
  private func firstDraw(of seed: UInt64) throws -> String? {
    let child = Background { try other(seed..<seed + 1, "--draws").map(Draw.init(line:)) }
    let own = try twin.lives().draws(of: seed)
    return Self.firstDifference(own, try child.value())
  }

  /// `draw 43 of the network at day 2 03:04:11, event 812: 7 here, 9 there`; nil if they are the same.
  static func firstDifference(_ here: [Draw], _ there: [Draw]) -> String? {
    for (left, right) in zip(here, there) where left != right {
      guard left.stream == right.stream, left.number == right.number, left.bound == right.bound else {
        return "\(name(left)) here, \(name(right)) there"
      }
      let isShown = left.value != right.value
      return name(left) + ": \(isShown ? left.value : left.bits) here, "
        + "\(isShown ? right.value : right.bits) there"
    }
    let (short, long) = (min(here.count, there.count), here.count > there.count ? here : there)
    guard long.count > short else { return nil }
    return name(long[short]) + ": only \(here.count > there.count ? "here" : "there")"
  }

  private static func name(_ draw: Draw) -> String {
    let (day, time) = (draw.at / 86_400_000, draw.at / 1_000 % 86_400)
    let clock = [time / 3_600, time / 60 % 60, time % 60].map { $0 < 10 ? "0\($0)" : "\($0)" }
    return "draw \(draw.number) of the \(draw.stream) at day \(day) \(clock.joined(separator: ":")), "
      + "event \(draw.event)"
  }

  /// Where the same numbers were drawn, and something else still differs: the first event that is told otherwise.
  private func firstEvent(_ left: Fingerprint, _ right: Fingerprint) throws -> String {
    let (_, lines) = try twin.lives().story(of: left.seed)
    let told = try other(left.seed..<left.seed + 1, "--story")
    let pair = zip(lines, told).first { $0 != $1 }
    let event =
      pair.map { "\n  \($0) (here)\n  \($1) (there)" } ?? ", of \(left.events) and \(right.events) events"
    return "the same draws, and another life" + event
  }
}

/// Work on a thread of its own, of which somebody wants the result later.
private final class Background<Value: Sendable>: Sendable {
  private let done = DispatchSemaphore(value: 0)
  private nonisolated(unsafe) var result: Result<Value, any Error>?

  init(_ body: @escaping @Sendable () throws -> Value) {
    let thread = Thread { [self] in
      unsafe result = Result { try body() }
      done.signal()
    }
    thread.start()
  }

  /// Blocks until it is there; to be called once.
  func value() throws -> Value {
    done.wait()
    guard let result = unsafe result else { throw ChildError(description: "nothing came of a thread") }
    return try result.get()
  }
}
