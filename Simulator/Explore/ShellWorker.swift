import FaultInjection
import Foundation

/// One process of `explore --shell`: lives its seeds one after the other, and writes a line for each.
struct ShellWorker {
  let options: ShellOptions

  /// What came of one seed, as it goes from process to process.
  struct Report: Codable {
    var seed: UInt64
    var hash: UInt64
    var jobs: Int
    var choices: Int
    var exercised: [Int]
    var marks: [Int]
    var invariant: String?
    var what: String?
  }

  static func exploration(_ plant: String?, below directory: String) -> ShellExploration {
    ShellExploration(below: directory, plant: plant.flatMap(ShellPlant.init(rawValue:))) {
      Interruption.shared.isAsked
    }
  }

  /// On a thread of its own, which is the only one that runs jobs meanwhile.
  static func onItsThread<Value: Sendable>(_ body: @escaping @Sendable () -> Value) -> Value {
    let result = Gathered<Value>()
    let done = DispatchSemaphore(value: 0)
    let thread = Thread {
      result.add(body())
      done.signal()
    }
    thread.stackSize = 16 << 20
    thread.start()
    done.wait()
    return result.all[0]
  }

  func execute() -> Int32 {
    Self.onItsThread { [options] in
      let exploration = Self.exploration(options.plant, below: options.directory)
      let encoder = JSONEncoder()
      do {
        for number in 0..<options.seeds {
          let seed = options.from + UInt64(number) * options.stride
          // Whoever reads has to know which one it was, should this process not survive it.
          Terminal.line("seed \(seed)")
          let life = try exploration.live(seed)
          let report = Report(
            seed: seed, hash: life.hash, jobs: life.jobs, choices: life.choices, exercised: life.exercised,
            marks: life.marks, invariant: life.violation?.invariant.rawValue, what: life.violation?.what)
          Terminal.line(String(decoding: try encoder.encode(report), as: UTF8.self))
          if life.violation != nil, options.plant != nil { break }
        }
        return ExitCode.ok
      } catch {
        Terminal.error("purchase-simulator: exploring the shell failed: \(error)")
        return ExitCode.internal
      }
    }
  }
}
