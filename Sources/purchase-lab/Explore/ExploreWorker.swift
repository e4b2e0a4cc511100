import CommandLineTools
import Dispatch
import Exploration
import Foundation
import PurchaseSQLite

#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// A child process of `explore` and `replay`: reads requests, a line each, and answers each with a line.
struct ExploreWorker {
  let choice: SimulationChoice

  /// A request of the parent.
  struct Request: Codable, Equatable {
    enum Task: String, Codable {
      case run, trace, draws
    }

    var task = Task.run
    var seed: UInt64
    var places: [Int]?
    var last = Int.max
  }

  /// The answer to a request. One of these is there.
  struct Answer: Codable {
    var run: RunResult?
    var traced: TracedRun?
    var draws: [Draw]?
    var error: String?
  }

  func execute() -> Int32 {
    let requests = Requests()
    // All jobs of the engine run on this one thread.
    let thread = Thread { [choice] in exit(Self.serve(choice, requests)) }
    thread.stackSize = 16 << 20
    thread.start()
    while let line = readLine() { requests.add(line) }
    // The parent has ended, or needs no further answer.
    _exit(ExitCode.ok)
  }

  private static func serve(_ choice: SimulationChoice, _ requests: Requests) -> Int32 {
    do {
      if !choice.isEngine { try ExploredDisks.prepare(choice.storage) }
      let runner = choice.ownRunner()
      while true {
        let request = try JSONDecoder().decode(Request.self, from: Data(requests.next().utf8))
        Terminal.line(try JSONOutput.line(answer(to: request, runner)))
      }
    } catch {
      Terminal.complain("a worker failed: \(error)")
      return ExitCode.internal
    }
  }

  private static func answer(to request: Request, _ runner: any SimulationRunner) -> Answer {
    let (seed, places, last) = (request.seed, request.places, request.last)
    do {
      switch request.task {
      case .run: return Answer(run: try runner.run(seed, keeping: places, stopAt: last))
      case .trace: return Answer(traced: try runner.trace(of: seed, keeping: places, stopAt: last))
      case .draws: return Answer(draws: try runner.draws(of: seed))
      }
    } catch {
      return Answer(error: "\(error)")
    }
  }
}

/// Requests that wait for the thread of the engine.
private final class Requests: Sendable {
  private let count = DispatchSemaphore(value: 0)
  private let lines = Locked<[String]>([])

  func add(_ line: String) {
    lines.withLock { $0.append(line) }
    count.signal()
  }

  /// Blocks until there is one.
  func next() -> String {
    count.wait()
    return lines.withLock { $0.removeFirst() }
  }
}
