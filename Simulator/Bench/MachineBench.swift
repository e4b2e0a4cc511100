import PurchaseSync

/// `bench machine`: how many purchases the machine brings from their order to their finish, without a disk and a
/// network.
struct MachineBench {
  static let bars = [1]

  private static let count = 20_000

  let options: BenchOptions

  func measure(_ report: (BenchSection) -> Void) throws {
    for accounts in [1, 50] { report(try section(accounts: accounts)) }
  }

  private func section(accounts: Int) throws -> BenchSection {
    let repetitions = (options.quick ? BenchPlan.quick : BenchPlan.full).repetitions
    let load = MachineLoad(count: Self.count, accounts: accounts)
    var (machine, toy): ([Double], [Double]) = ([], [])
    for repetition in 0..<(repetitions + 1) {
      let rates = (machine: try rate(MachineInMemory.self, load), toy: try rate(MachineToy.self, load))
      // The first of each is cold.
      guard repetition > 0 else { continue }
      machine.append(rates.machine)
      toy.append(rates.toy)
    }
    let ratios = try Statistics.ratios(machine, to: toy)
    let bar = Bar(
      number: 1, what: "purchases per second of one core, order to finish", unit: .count,
      measured: try Statistics.median(machine), bound: .atLeast(500_000),
      spread: (machine.min() ?? 0)...(machine.max() ?? 0))
    return BenchSection(
      title:
        "\(Self.count) purchases of \(accounts) \(accounts == 1 ? "account" : "accounts"), in processor time",
      bars: [bar],
      notes: [
        Table.pad("toy", 12) + BenchText.right(BenchText.fixed(try Statistics.median(toy), 0), 12)
          + " purchases/s: no retries, clocks, lanes or limits",
        Table.pad("machine/toy", 12) + BenchText.right(BenchText.fixed(try Statistics.median(ratios), 2), 12)
          + "x",
      ])
  }

  private func rate<Subject: MachineSubject>(_ kind: Subject.Type, _ load: MachineLoad) throws -> Double {
    var subject = Subject()
    var told = 0
    let milliseconds = try ProcessorTime.milliseconds { told = try subject.work(load) }
    guard told == load.purchases.count else {
      throw BenchError.unfinishedPurchases(told: told, of: load.purchases.count)
    }
    return Double(load.purchases.count) * 1_000 / milliseconds
  }
}
