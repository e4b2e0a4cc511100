/// `bench queue`: every bar of the queue, in one run.
struct QueueBench {
  /// The numbers of the bars. Bar 4 is measured against other programs, elsewhere.
  static let bars = [1, 2, 3, 5, 6, 7, 8, 9, 10, 11, 12, 13]

  let options: BenchOptions
  let child: BenchChild

  func measure(_ report: (BenchSection) -> Void) async throws {
    let disk = try Workbench(below: options.directory, name: ".bench", child)
    defer { disk.remove() }
    let memory = try Workbench.memory.map { try Workbench(below: $0, name: "purchase-bench", child) }
    defer { memory?.remove() }
    for part in parts(disk, memory) where options.only.isEmpty || !part.bars.isDisjoint(with: options.only) {
      report(try await part.measure())
    }
  }

  /// A section that is still to be measured, and its bars.
  private struct Part {
    var bars: Set<Int>
    var measure: () async throws -> BenchSection

    init(_ bars: Set<Int>, _ measure: @escaping () async throws -> BenchSection) {
      self.bars = bars
      self.measure = measure
    }
  }

  private func parts(_ disk: Workbench, _ memory: Workbench?) -> [Part] {
    let plan = options.plan
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
      // Sizes do not depend on the disk, and many more operations are needed than for other bars.
      Part([8]) { try SizeBars.section(plan, memory ?? disk) },
      Part([11]) { try OpenBars.section(plan, disk) },
      Part([12]) { try await SharingBars.section(plan, disk) },
      Part([13]) { try MetricsBars.section(plan, disk, memory: memory) },
      Part([9]) { try MemoryBars.section(memory ?? disk) },
    ]
  }
}
