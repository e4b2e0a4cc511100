/// How a bench is measured.
package struct BenchOptions: Equatable, Sendable {
  /// A name of `Benchmark.all`.
  package var bench = "queue"
  /// A missed bar ends the process with 1.
  package var check = false
  package var json = false
  /// Fewer repetitions and operations: a look, not a verdict.
  package var quick = false
  /// The disk measurements run in a new directory below this one.
  package var directory = "."
  /// The numbers of the bars to be measured; all of them if there is none.
  package var only: [Int] = []

  package init(
    check: Bool = false, json: Bool = false, quick: Bool = false, directory: String = ".", only: [Int] = []
  ) {
    (self.check, self.json, self.quick) = (check, json, quick)
    (self.directory, self.only) = (directory, only)
  }

  /// Whether one of these bars is to be measured.
  func wants(_ bars: Int...) -> Bool { only.isEmpty || bars.contains(where: only.contains) }

  var plan: BenchPlan { quick ? .quick : .full }
}

/// The options of the hidden command `bench-load`, the child process of a bench.
package struct BenchLoadOptions: Equatable, Sendable {
  package enum Work: String, CaseIterable, Sendable {
    case enqueue, acknowledge
    /// An enqueue and an acknowledgement each time.
    case cycle
    /// Not even open the queue.
    case idle
    /// Read a receipt's file; decode it as well.
    case read, decode
    /// Enqueue, and print the p99 in nanoseconds.
    case contend
    /// Open the queue, look at its first entry, and close it.
    case open
  }

  package var work = Work.idle
  package var path = ""
  package var count = 0
  /// The queue is filled up to this length before the work.
  package var length = 0
  /// The directory of a vault; empty for none.
  package var vault = ""

  package init(
    work: Work = .idle, path: String = "", count: Int = 0, length: Int = 0, vault: String = ""
  ) {
    (self.work, self.path, self.count, self.length) = (work, path, count, length)
    self.vault = vault
  }
}
