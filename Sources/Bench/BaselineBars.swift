/// Bars 2 and 3: the queue against the least that a durable queue of its kind costs. The bare loop is a figure only.
enum BaselineBars {
  static func disk(_ plan: BenchPlan, _ workbench: Workbench) throws -> BenchSection {
    let subjects: [Subject] = [.sqliteLoop, .countedLoop, .queue, .append, .jsonFile, .queueWithVault]
    let results = try Throughput(subjects: subjects, plan: plan, workbench: workbench).run()
    var section = BenchSection(
      title: "8 KB on disk, queue length 50, \(plan.repetitions) repetitions of \(plan.operations)")
    section.figures = try results.figures()
    section.bars = try loop(results, on: "disk", .atLeast(0.95), .atLeast(0.95))
    section.bars.append(
      try .times(
        3, "enqueue / append + fdatasync, 8 KB", results.ratios(of: .queue, to: .append, .enqueue),
        .atLeast(1.1)))
    for other in [Subject.sqliteLoop, .jsonFile, .queueWithVault] {
      let ratios = try [
        results.ratios(of: .queue, to: other, .enqueue), results.ratios(of: .queue, to: other, .acknowledge),
      ]
      .map { BenchText.fixed(try Statistics.median($0), 2) }
      section.notes.append("queue / \(other.rawValue): enqueue \(ratios[0])x, ack \(ratios[1])x")
    }
    return section
  }

  /// Of an enqueue and of an ack.
  private static let tmpfs: [Bar.Bound] = [.atLeast(0.85), .atLeast(0.75)]

  static func memory(_ plan: BenchPlan, _ workbench: Workbench?) throws -> BenchSection {
    var section = BenchSection(title: "8 KB on tmpfs, queue length 50")
    guard let workbench else {
      section.bars = zip(["enqueue", "ack"], tmpfs).map {
        Bar(number: 2, what: title($0, "tmpfs"), bound: $1, reason: "there is no /dev/shm")
      }
      return section
    }
    let results = try Throughput(
      subjects: [.sqliteLoop, .countedLoop, .queue], plan: plan, workbench: workbench
    ).run()
    section.figures = try results.figures()
    section.bars = try loop(results, on: "tmpfs", tmpfs[0], tmpfs[1])
    return section
  }

  /// Other sizes than 8 KB, against the append alone.
  static func size(_ kilobytes: Int, _ plan: BenchPlan, _ workbench: Workbench) throws -> BenchSection {
    let results = try Throughput(
      subjects: [.queue, .append], plan: plan, payloadBytes: kilobytes << 10, workbench: workbench
    ).run()
    return BenchSection(
      title: "\(kilobytes) KB on disk, queue length 50", figures: try results.figures(),
      bars: [
        try .times(
          3, "enqueue / append + fdatasync, \(kilobytes) KB",
          results.ratios(of: .queue, to: .append, .enqueue), .atLeast(0.85))
      ])
  }

  private static func loop(
    _ results: Throughput.Results, on place: String, _ enqueue: Bar.Bound, _ acknowledge: Bar.Bound
  ) throws -> [Bar] {
    [
      try .times(
        2, title("enqueue", place), results.ratios(of: .queue, to: .countedLoop, .enqueue), enqueue),
      try .times(
        2, title("ack", place), results.ratios(of: .queue, to: .countedLoop, .acknowledge),
        acknowledge),
    ]
  }

  private static func title(_ phase: String, _ place: String) -> String {
    "\(phase) / \(Subject.countedLoop.rawValue), \(place)"
  }
}
