/// Runs the subjects in turns, and compares each run with its neighbours in time.
struct Throughput {
  /// One run of one subject.
  struct Run {
    var enqueue: Samples
    var acknowledge: Samples?
  }

  var subjects: [Subject]
  var plan: BenchPlan
  var payloadBytes = BenchPlan.payloadBytes
  var workbench: Workbench

  /// By subject, in the order of the repetitions.
  func run() throws -> Results {
    var runs: [Subject: [Run]] = [:]
    // The first run is cold, and is not counted.
    _ = try repetition(seed: 0, operations: 50)
    for index in 0..<plan.repetitions {
      let repetition = try repetition(seed: UInt64(index + 1), operations: plan.operations)
      for (subject, run) in repetition { runs[subject, default: []].append(run) }
    }
    return Results(subjects: subjects, runs: runs)
  }

  private func repetition(seed: UInt64, operations: Int) throws -> [(Subject, Run)] {
    var payloads = Payloads(seed: seed << 32 | UInt64(payloadBytes))
    let filling = payloads.next(BenchPlan.length, of: payloadBytes)
    let work = payloads.next(operations, of: payloadBytes)
    return try subjects.map { ($0, try run($0, filling, work)) }
  }

  private func run(_ kind: Subject, _ filling: [[UInt8]], _ work: [[UInt8]]) throws -> Run {
    try workbench.scratch { directory in
      let subject = try kind.open(in: directory)
      for payload in filling { try subject.enqueue(payload) }
      let count = kind.operations(of: work.count)
      let enqueue = try Samples.measure(count) { try subject.enqueue(work[$0]) }
      var run = Run(enqueue: enqueue)
      if kind.acknowledges {
        run.acknowledge = try Samples.measure(count) { _ in try subject.acknowledge() }
      }
      try subject.close()
      return run
    }
  }

  struct Results {
    enum Phase: String { case enqueue, acknowledge }

    var subjects: [Subject]
    var runs: [Subject: [Run]]

    func figures() throws -> [SubjectFigures] {
      try subjects.map { subject in
        let runs = runs[subject] ?? []
        let acknowledge = runs.compactMap(\.acknowledge)
        return SubjectFigures(
          subject: subject.rawValue, enqueue: try Figures(runs.map(\.enqueue)),
          acknowledge: acknowledge.isEmpty ? nil : try Figures(acknowledge))
      }
    }

    /// How many times as fast as `other` the subject is, in each repetition.
    func ratios(of subject: Subject, to other: Subject, _ phase: Phase) throws -> [Double] {
      try Statistics.ratios(rates(subject, phase), to: rates(other, phase))
    }

    private func rates(_ subject: Subject, _ phase: Phase) throws -> [Double] {
      try (runs[subject] ?? []).compactMap { phase == .enqueue ? $0.enqueue : $0.acknowledge }
        .map { try $0.perSecond() }
    }
  }
}
