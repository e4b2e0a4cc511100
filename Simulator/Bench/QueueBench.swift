/// `bench queue`: every bar of the queue, in one run.
struct QueueBench {
  /// The numbers of the bars: 4 is measured against other programs, and not here.
  static let bars = [1, 2, 3, 5, 6, 7, 8, 9, 10]

  let options: BenchOptions

  func measure(_ report: (BenchSection) -> Void) async throws {
    let disk = try Workbench(below: options.directory, name: ".bench")
    defer { disk.removeOrSay() }
    let memory = try Workbench.memory.map { try Workbench(below: $0, name: "purchase-bench") }
    defer { memory?.removeOrSay() }
    for part in parts(disk, memory) where options.only.isEmpty || !part.bars.isDisjoint(with: options.only) {
      report(try await part.measure())
    }
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
}
