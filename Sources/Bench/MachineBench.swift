import MemoryModels
import PurchaseSync
import PurchaseSyncTesting

/// `bench machine`: how many purchases the machine handles from order to finish, without a disk and a network.
struct MachineBench {
  static let bars = [1]

  private static let count = 2_000
  /// Each round starts with a new machine. The load is in the caches, like a transaction that the store has just
  /// delivered.
  private static let rounds = 10

  let options: BenchOptions

  func measure(_ report: (BenchSection) -> Void) throws {
    for accounts in [1, 50] { report(try section(accounts: accounts)) }
  }

  private func section(accounts: Int) throws -> BenchSection {
    let repetitions = options.plan.repetitions
    let load = MachineLoad(count: Self.count, accounts: accounts)
    var (machine, queue, toy): ([Double], [Double], [Double]) = ([], [], [])
    for repetition in 0..<(repetitions + 1) {
      let rates = try [
        rate(MachineDriver<SinglePurchaseStorage>.self, load), rate(MachineDriver<MemoryStorage>.self, load),
        rate(MinimalMachine.self, load),
      ]
      // The first run of each is cold.
      guard repetition > 0 else { continue }
      machine.append(rates[0])
      queue.append(rates[1])
      toy.append(rates[2])
    }
    let bar = try Bar.median(
      1, "purchases of one core, from order to finish", machine, .atLeast(500_000), .perSecond)
    return BenchSection(
      title: "purchases of \(accounts) \(accounts == 1 ? "account" : "accounts"), in processor time",
      bars: [bar],
      notes: [
        try line("machine", machine, "no storage: only the purchase that is under way is known"),
        try line("and a queue in memory", queue, "the one that simulations run on"),
        try line("toy", toy, "the baseline: the same path without retries, clocks, lanes and limits"),
        BenchText.left("machine/toy", 24)
          + BenchText.right(
            BenchText.fixed(try Statistics.median(Statistics.ratios(machine, to: toy)), 2) + "x", 12),
      ])
  }

  private func line(_ name: String, _ rates: [Double], _ remark: String) throws -> String {
    BenchText.left(name, 24) + BenchText.right(BenchText.fixed(try Statistics.median(rates), 0) + "/s", 12)
      + "  "
      + remark
  }

  private func rate<Subject: MachineSubject>(_ kind: Subject.Type, _ load: MachineLoad) throws -> Double {
    var told = 0
    let milliseconds = try ProcessorTime.milliseconds {
      for _ in 0..<Self.rounds {
        var subject = Subject()
        told += try subject.work(load)
      }
    }
    let count = Self.rounds * load.purchases.count
    guard told == count else { throw BenchError.unfinishedPurchases(told: told, of: count) }
    return Double(count) * 1_000 / milliseconds
  }
}
