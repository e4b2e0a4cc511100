import Bench
import CommandLineTools
import FaultInjection
import Foundation
import PurchaseQueue
import PurchaseSync

/// One process of `crash-images`, with one disk in memory. It reads the names of workloads, a line each, and answers each
/// with its tally.
struct CrashImagesWorker {
  let options: CrashImagesWorkerOptions

  /// A tally, with the processor time of the images.
  struct Line: Codable {
    var tally: ImageTally
    var seconds: Double
  }

  func execute() -> Int32 {
    guard FaultVFS.install() else {
      Terminal.complain("SQLite does not take the disk in memory")
      return ExitCode.internal
    }
    while let name = readLine() {
      do {
        guard let (workload, discipline) = Self.address(name) else {
          Terminal.complain("there is no workload '\(name)'")
          return ExitCode.usage
        }
        Terminal.json(try run(workload, discipline))
      } catch {
        Terminal.complain("\(name) could not be run: \(error)")
        return ExitCode.internal
      }
    }
    return ExitCode.ok
  }

  /// A workload's name, after the discipline and a colon unless it is the production discipline.
  static func address(_ text: String) -> (ImageWorkload, ImageDiscipline)? {
    let parts = text.split(separator: ":", maxSplits: 1).map(String.init)
    let discipline = parts.count == 2 ? ImageDiscipline(rawValue: parts[0]) : .production
    guard let discipline, let last = parts.last, let workload = ImageWorkload(name: last) else { return nil }
    return (workload, discipline)
  }

  private func run(_ workload: ImageWorkload, _ discipline: ImageDiscipline) throws -> Line {
    // A control needs only one loss, and a few writes have some dozen fates.
    let cap = discipline == .production ? options.cap : max(32, options.cap / 8)
    var search = ImageSearch(workload, discipline, seed: options.seed, cap: cap)
    var tally = ImageTally(workload.name)
    let milliseconds = try ProcessorTime.milliseconds { tally = try search.run() }
    if discipline == .production, options.hasFaults {
      let isShort = workload.kinds.count == 1
      try ImageFaults(workload: workload, seed: options.seed, stride: isShort ? 1 : 11).run(&tally)
      let faults = ImageRecoveryFaults(site: search.site, seed: options.seed)
      var random = RandomSource(seed: options.seed &+ UInt64(bitPattern: tally.fingerprint))
      for sample in search.samples {
        if isShort, sample.isFirstOfItsNames {
          faults.runAll(sample, &tally)
        } else {
          faults.runOne(sample, random: &random, &tally)
        }
      }
    }
    return Line(tally: tally, seconds: milliseconds / 1_000)
  }
}
