import Bench
import CommandLineTools
import Foundation

/// `bench NAME`: measures, reports, and judges.
struct BenchCommand {
  let options: BenchOptions

  func execute() async -> Int32 {
    do {
      guard let bench = Benchmark.named(options.bench) else {
        throw UsageError(message: "there is no bench '\(options.bench)'")
      }
      #if DEBUG
        Terminal.complain("this is a debug build; measure with 'swift build -c release'")
      #endif
      let report = try await bench.run(options, Self.child) { section in
        if !options.json { Terminal.line(section.text + "\n") }
      }
      Terminal.line(options.json ? try report.json() : report.summary)
      return options.check && report.hasMissed ? ExitCode.promiseBroken : ExitCode.ok
    } catch {
      Terminal.complain("the bench could not be run: \(error)")
      return ExitCode.internal
    }
  }

  private static let child = BenchChild(executable: ChildProcess.executable.path) { command in
    let ended = try ChildOutput(command: command)
    return BenchChild.Ended(status: ended.status, output: ended.output, complaint: ended.complaint)
  }

  // MARK: Options

  /// Only benches that write to a disk have `--directory`.
  static func table(usesDisk: Bool) -> OptionTable<BenchOptions> {
    let directory = OptionTable<BenchOptions>.Row.text(
      "--directory", \.directory, of: "DIR", "the disk to measure on (default: the current directory)")
    return OptionTable(
      [
        .flag("--quick", \.quick, "fewer repetitions: a look, not a verdict"),
        .flag("--check", \.check, "exit with 1 when a bar is missed"),
        .flag("--json", \.json, "one JSON document"),
        OptionTable.Row(name: "--only", argument: "N", help: "this bar only; may be given again") {
          $0.only.append(try bar(try $1.number(of: "--only"), of: $0.bench))
        },
      ] + (usesDisk ? [directory] : []))
  }

  static func parse(_ arguments: [String]) -> Result<BenchOptions, UsageError> {
    guard let name = arguments.first else {
      let names = Benchmark.names.joined(separator: ", ")
      return .failure(UsageError(message: "bench needs what is to be measured: \(names)"))
    }
    guard let bench = Benchmark.named(name) else {
      let nearest = Nearest.name(to: name, in: Benchmark.names)
      return .failure(UsageError(message: "bench cannot measure '\(name)'\(nearest)"))
    }
    var options = BenchOptions()
    options.bench = name
    return table(usesDisk: bench.usesDisk)
      .parse(Array(arguments.dropFirst()), into: options, of: "bench \(name)")
  }

  private static func bar(_ number: Int, of name: String) throws(UsageError) -> Int {
    let bars = Benchmark.named(name)?.bars ?? []
    guard bars.contains(number) else {
      let numbers = bars.map(String.init).joined(separator: ", ")
      throw UsageError(message: "there is no bar \(number); bench \(name) knows \(numbers)")
    }
    return number
  }
}

// MARK: - Child processes

extension BenchLoadOptions {
  static func parse(_ arguments: [String]) -> Result<Self, UsageError> {
    guard let work = arguments.first.flatMap(Work.init(rawValue:)) else {
      let names = Work.allCases.map(\.rawValue).joined(separator: ", ")
      return .failure(UsageError(message: "bench-load needs its work: one of \(names)"))
    }
    let table = OptionTable<Self>([
      .text("--path", \.path), .number("--count", \.count), .number("--length", \.length),
      .text("--vault", \.vault),
    ])
    return table.parse(Array(arguments.dropFirst()), into: Self(work: work), of: "bench-load").flatMap {
      guard work == .idle || !$0.path.isEmpty else {
        return .failure(UsageError(message: "bench-load \(work.rawValue) needs --path"))
      }
      return .success($0)
    }
  }

  func execute() -> Int32 {
    do {
      if let peak = try BenchLoad(options: self).run() { Terminal.line("\(peak)") }
      return ExitCode.ok
    } catch {
      Terminal.complain("bench-load \(work.rawValue): \(error)")
      return ExitCode.internal
    }
  }
}

extension UploadLoad {
  static func parse(_ arguments: [String]) -> Result<UploadLoad, UsageError> {
    guard arguments.count == 2, let way = UploadWay(rawValue: arguments[0]), let count = Int(arguments[1]),
      count >= 0
    else { return .failure(UsageError(message: "bench-upload needs bare or engine, and a number")) }
    return .success(UploadLoad(way: way, requests: count))
  }

  func execute() async -> Int32 {
    do {
      Terminal.line("\(try await run())")
      return ExitCode.ok
    } catch {
      Terminal.complain("bench-upload: \(error)")
      return ExitCode.internal
    }
  }
}

extension PurchaseLoad {
  static func parse(_ arguments: [String]) -> Result<PurchaseLoad, UsageError> {
    guard arguments.count == 3, let work = Work(rawValue: arguments[0]), let count = Int(arguments[2]),
      count >= 0
    else { return .failure(UsageError(message: "bench-purchase needs its work, a path and a number")) }
    var load = PurchaseLoad()
    (load.work, load.path, load.count) = (work, arguments[1], count)
    return .success(load)
  }

  func execute() async -> Int32 {
    do {
      if let figures = try await run() { Terminal.line(figures) }
      return ExitCode.ok
    } catch {
      Terminal.complain("bench-purchase: \(error)")
      return ExitCode.internal
    }
  }
}
