import CommandLineTools
import FaultInjection
import Foundation
import PurchaseQueue
import PurchaseSQLite

/// `crash-images --damage`: worker processes damage a queue in every way and open it.
struct DamageCommand {
  let options: CrashImagesOptions

  /// The counts of a worker, or of all.
  struct Tally: Codable, Hashable {
    var cases = 0
    var salvaged = 0
    var untouched = 0
    var kept = 0
    var silentLosses = 0
    var failed = 0
    var worstMilliseconds = 0.0
    var slowest = ""
    /// The first failures: case and problem.
    var failures: [String] = []

    mutating func add(_ other: Tally) {
      cases += other.cases
      salvaged += other.salvaged
      untouched += other.untouched
      kept += other.kept
      silentLosses += other.silentLosses
      failed += other.failed
      if other.worstMilliseconds > worstMilliseconds {
        (worstMilliseconds, slowest) = (other.worstMilliseconds, other.slowest)
      }
      failures = Array((failures + other.failures).prefix(40))
    }

    mutating func add(_ verdict: DamageVerdict, _ name: String) {
      cases += 1
      salvaged += verdict.isSalvaged ? 1 : 0
      untouched += verdict.untouched
      kept += verdict.kept
      silentLosses += verdict.isSilentLoss ? 1 : 0
      if verdict.milliseconds > worstMilliseconds {
        (worstMilliseconds, slowest) = (verdict.milliseconds, name)
      }
      guard let problem = verdict.problem else { return }
      failed += 1
      if failures.count < 40 { failures.append("\(name): \(problem)") }
    }
  }

  func execute() -> Int32 {
    Interruption.shared.watch()
    let begin = ContinuousClock.now
    let jobs = options.jobs ?? Jobs.usualWidth
    let shares = options.damageCase == nil ? jobs * 8 : 1
    let (total, complaint) = (Locked(Tally()), Locked<String?>(nil))
    Jobs.run(shares, width: jobs) { share -> Tally? in
      do {
        return try answer(share, of: shares)
      } catch {
        complaint.withLock { $0 = "\(error)" }
        return nil
      }
    } inOrder: { _, tally in
      if let tally { total.withLock { $0.add(tally) } }
    }
    if let code = Interruption.shared.exitCode { return code }
    if let told = complaint.value {
      Terminal.complain("a worker failed: \(told)")
      return ExitCode.internal
    }
    let tally = total.value
    if options.json { Terminal.json(tally) } else { show(tally, begin.duration(to: .now)) }
    return tally.failed == 0 && tally.cases > 0 ? ExitCode.ok : ExitCode.promiseBroken
  }

  private func answer(_ share: Int, of shares: Int) throws -> Tally {
    var arguments = [
      "damage-worker", "--seed", String(options.seed), "--share", String(share), "--shares", String(shares),
      "--cases", String(options.cases),
    ]
    if options.allCases { arguments.append("--all") }
    if let name = options.damageCase { arguments += ["--case", name] }
    let result = try ChildOutput(of: arguments)
    guard result.status == 0, let line = result.lines.last else {
      throw UsageError(message: "it ended with \(result.status): \(result.complaint)")
    }
    return try JSONDecoder().decode(Tally.self, from: Data(line.utf8))
  }

  private func show(_ tally: Tally, _ wallClock: Duration) {
    for failure in tally.failures { Terminal.line(failure) }
    Terminal.line(
      "\(tally.cases) cases, \(tally.salvaged) salvaged; of \(tally.untouched) entries that were not touched "
        + "\(tally.kept) kept; silent losses: \(tally.silentLosses); worst opening "
        + "\(Int(tally.worstMilliseconds.rounded(.up))) ms (\(tally.slowest)); \(wallClock.components.seconds) s"
    )
    Terminal.line(tally.failed == 0 ? "nothing untouched was lost" : "FAILED: \(tally.failed) cases")
  }
}

/// The options of the hidden `damage-worker`.
struct DamageWorkerOptions: Equatable, CommandOptions {
  static let command = "damage-worker"

  var seed: UInt64 = 1
  var share = 0
  var shares = 1
  var cases = 20_000
  var all = false
  var only: DamageCase?

  static var table: OptionTable<Self> {
    OptionTable([
      .number("--seed", \.seed), .number("--share", \.share), .number("--shares", \.shares),
      .number("--cases", \.cases), .flag("--all", \.all),
      .value("--case", of: "CASE") { $0.only = try .named($1) },
    ])
  }

  func execute() -> Int32 {
    guard FaultVFS.install() else {
      Terminal.complain("SQLite does not take the disk in memory")
      return ExitCode.internal
    }
    do {
      var tally = DamageCommand.Tally()
      for state in DamageSubject.State.allCases where only == nil || only?.state == state {
        let subject = try DamageSubject(state, seed: 1)
        let judge = DamageJudge(subject: subject, seed: seed)
        for damage in chosen(of: subject) { tally.add(judge.verdict(on: damage), damage.name) }
      }
      Terminal.json(tally)
      return ExitCode.ok
    } catch {
      Terminal.complain("the queue could not be made: \(error)")
      return ExitCode.internal
    }
  }

  /// The share of this worker: of all cases, or of those that the seed draws.
  private func chosen(of subject: DamageSubject) -> [DamageCase] {
    if let only { return [only] }
    let cases = subject.cases
    guard !all else { return stride(from: share, to: cases.count, by: shares).map { cases[$0] } }
    var random = RandomSource(seed: seed &+ (subject.state == .closed ? 0 : 1))
    let wanted = cases.count == 0 ? 0 : self.cases / DamageSubject.State.allCases.count
    // Flipped bits are nearly all cases: a third of the sample is of whole pages.
    let pages = cases.pages
    let drawn = (0..<wanted).map { index in
      index % 3 == 0
        ? pages[Int(random.next() % UInt64(pages.count))] : cases[Int(random.next() % UInt64(cases.count))]
    }
    return stride(from: share, to: drawn.count, by: shares).map { drawn[$0] }
  }
}

extension DamageCase {
  static func named(_ name: String) throws(UsageError) -> DamageCase {
    if let damage = DamageCase(name: name) { return damage }
    throw UsageError(
      message: "--case takes what crash-images --damage prints, such as 'closed/file/flip/800', not '\(name)'"
    )
  }
}
