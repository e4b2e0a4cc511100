import CPurchaseSQLite
import Foundation

/// `bench queue`: every bar of the queue, in one run.
struct QueueBench {
  /// The numbers of the bars: 4 is measured against other programs, and not here.
  static let bars = [1, 2, 3, 5, 6, 7, 8, 9, 10]

  let options: BenchOptions

  func execute() async -> Int32 {
    do {
      let report = try await measure()
      if options.json { Terminal.line(try report.json()) } else { Terminal.line(report.summary) }
      return options.check && report.hasMissed ? ExitCode.promiseBroken : ExitCode.ok
    } catch {
      Terminal.error("purchase-simulator: the bench could not be run: \(error)")
      return ExitCode.internal
    }
  }

  private func measure() async throws -> BenchReport {
    #if DEBUG
      Terminal.error("purchase-simulator: this is a debug build; measure with 'swift build -c release'")
    #endif
    let disk = try Workbench(below: options.directory, name: ".bench")
    defer { remove(disk) }
    let memory = try Workbench.memory.map { try Workbench(below: $0, name: "purchase-bench") }
    defer { memory.map(remove) }
    let clock = ContinuousClock()
    let begin = clock.now
    var report = BenchReport(isQuick: options.quick, directory: disk.path)
    for part in parts(disk, memory) where options.only.isEmpty || !part.bars.isDisjoint(with: options.only) {
      let section = try await part.measure()
      report.sections.append(section)
      if !options.json { Terminal.line(section.text + "\n") }
    }
    report.seconds = (Double((clock.now - begin).wholeNanoseconds) / 1e8).rounded() / 10
    return report
  }

  /// A section to come, and the bars in it.
  private struct Part {
    var bars: Set<Int>
    var measure: () async throws -> BenchSection

    init(_ bars: Set<Int>, _ measure: @escaping () async throws -> BenchSection) {
      self.bars = bars
      self.measure = measure
    }
  }

  private func parts(_ disk: Workbench, _ memory: Workbench?) -> [Part] {
    let plan = options.quick ? BenchPlan.quick : BenchPlan.full
    return [
      Part([1]) { try SyncBars.section(disk) },
      Part([2, 3]) { try BaselineBars.disk(plan, disk) },
      Part([2]) { try BaselineBars.memory(plan, memory) },
      Part([3]) { try BaselineBars.size(2, plan, disk) },
      Part([3]) { try BaselineBars.size(32, plan, disk) },
      Part([5]) { try BatchBars.section(plan, disk) },
      Part([5, 10]) { try await AsyncBars.section(plan, disk) },
      Part([6]) { try LogBytesBars.section(disk) },
      Part([7]) { try LengthBars.section(plan, disk) },
      // Sizes do not depend on the disk, and many more operations than elsewhere are needed.
      Part([8]) { try SizeBars.section(plan, memory ?? disk) },
      Part([9]) { try MemoryBars.section(memory ?? disk) },
    ]
  }

  private func remove(_ workbench: Workbench) {
    do {
      try workbench.remove()
    } catch {
      Terminal.error("purchase-simulator: \(workbench.path) could not be removed: \(error)")
    }
  }
}

/// What came out.
struct BenchReport: Encodable {
  var isQuick: Bool
  var directory: String
  var sqlite = unsafe String(cString: sqlite3_libversion())
  var seconds = 0.0
  var sections: [BenchSection] = []

  private var bars: [Bar] { sections.flatMap(\.bars) }
  var hasMissed: Bool { !Bar.missed(bars).isEmpty }

  var summary: String {
    let missed = Bar.missed(bars)
    let measured = bars.count { $0.isKept != nil }
    let numbers = Set(missed.map(\.number)).sorted().map(String.init).joined(separator: ", ")
    return
      "\(measured - missed.count) of \(measured) kept, \(bars.count - measured) not measured, in \(seconds) s"
      + (missed.isEmpty ? "" : "; missed in bar \(numbers)")
  }

  func json() throws -> String {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .prettyPrinted, .withoutEscapingSlashes]
    return String(decoding: try encoder.encode(self), as: UTF8.self)
  }
}
