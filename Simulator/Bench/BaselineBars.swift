/// Bars 2 and 3: the full queue against what a durable queue costs at the least.
enum BaselineBars {
  static func disk(_ plan: BenchPlan, _ workbench: Workbench) throws -> BenchSection {
    let subjects: [Subject] = [.sqliteLoop, .queue, .append, .jsonFile, .queueWithVault]
    let results = try Throughput(subjects: subjects, plan: plan, workbench: workbench).run()
    var section = BenchSection(
      title: "8 KB on disk, queue length 50, \(plan.repetitions) repetitions of \(plan.operations)")
    section.figures = try results.figures()
    section.bars = try loop(results, on: "disk", atLeast: 0.90)
    section.bars.append(
      Bar(
        number: 3, what: "enqueue / append + fdatasync, 8 KB",
        measured: try results.ratio(of: .queue, to: .append, .enqueue), bound: .atLeast(1.1)))
    for other in [Subject.jsonFile, .queueWithVault] {
      let enqueue = BenchText.fixed(try results.ratio(of: .queue, to: other, .enqueue), 2)
      let acknowledge = BenchText.fixed(try results.ratio(of: .queue, to: other, .acknowledge), 2)
      section.notes.append("queue / \(other.rawValue): enqueue \(enqueue)x, ack \(acknowledge)x")
    }
    return section
  }

  static func memory(_ plan: BenchPlan, _ workbench: Workbench?) throws -> BenchSection {
    var section = BenchSection(title: "8 KB on tmpfs, queue length 50")
    guard let workbench else {
      section.bars = [2, 2].map {
        Bar(number: $0, what: "tmpfs", bound: .atLeast(0.75), reason: "there is no /dev/shm")
      }
      return section
    }
    let results = try Throughput(subjects: [.sqliteLoop, .queue], plan: plan, workbench: workbench).run()
    section.figures = try results.figures()
    section.bars = try loop(results, on: "tmpfs", atLeast: 0.75)
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
        Bar(
          number: 3, what: "enqueue / append + fdatasync, \(kilobytes) KB",
          measured: try results.ratio(of: .queue, to: .append, .enqueue), bound: .atLeast(0.85))
      ])
  }

  private static func loop(
    _ results: Throughput.Results, on place: String, atLeast limit: Double
  ) throws -> [Bar] {
    [
      Bar(
        number: 2, what: "enqueue / SQLite C loop, \(place)",
        measured: try results.ratio(of: .queue, to: .sqliteLoop, .enqueue), bound: .atLeast(limit)),
      Bar(
        number: 2, what: "ack / SQLite C loop, \(place)",
        measured: try results.ratio(of: .queue, to: .sqliteLoop, .acknowledge), bound: .atLeast(limit)),
    ]
  }
}
