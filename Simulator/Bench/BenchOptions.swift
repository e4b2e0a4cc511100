/// What `bench NAME` is asked to do.
struct BenchOptions: Equatable {
  /// Which bench: a name of `Bench.all`.
  var bench = "queue"
  /// A missed bar ends the process with 1.
  var check = false
  var json = false
  /// Fewer repetitions and operations: a look, not a verdict.
  var quick = false
  /// The disk measurements run in a new directory below this one.
  var directory = "."
  /// The numbers of the bars to be measured; all of them if there is none.
  var only: [Int] = []

  static func parse(_ arguments: [String]) -> Result<BenchOptions, Command.UsageError> {
    Result { () throws(Command.UsageError) in try read(arguments) }
  }

  private static func read(_ arguments: [String]) throws(Command.UsageError) -> BenchOptions {
    var options = BenchOptions()
    var arguments = Arguments(arguments)
    let names = Bench.names.joined(separator: ", ")
    guard let what = arguments.next() else {
      throw Command.UsageError(message: "bench needs what is to be measured: \(names)")
    }
    guard let bench = Bench.named(what) else {
      let nearest = Nearest.name(to: what, in: Bench.names)
      throw Command.UsageError(message: "bench cannot measure '\(what)'\(nearest)")
    }
    options.bench = bench.name
    while let argument = arguments.next() {
      switch argument {
      case "--check": options.check = true
      case "--json": options.json = true
      case "--quick": options.quick = true
      case "--directory" where bench.usesDisk: options.directory = try arguments.value(of: argument)
      case "--only": options.only.append(try bar(try arguments.number(of: argument), of: bench))
      default:
        let known = ["--check", "--json", "--quick", "--only"] + (bench.usesDisk ? ["--directory"] : [])
        let nearest = Nearest.name(to: argument, in: known)
        throw Command.UsageError(message: "bench \(bench.name) has no option '\(argument)'\(nearest)")
      }
    }
    return options
  }

  private static func bar(_ number: Int, of bench: Bench) throws(Command.UsageError) -> Int {
    guard bench.bars.contains(number) else {
      let numbers = bench.bars.map(String.init).joined(separator: ", ")
      throw Command.UsageError(message: "there is no bar \(number); bench \(bench.name) knows \(numbers)")
    }
    return number
  }
}

/// What the hidden `bench-load` is asked to do: the child processes of the bench.
struct BenchLoadOptions: Equatable {
  enum Work: String, CaseIterable {
    case enqueue, acknowledge
    /// An enqueue and an acknowledgement each time.
    case cycle
    /// Not even open the queue.
    case idle
    /// Read a receipt's file; decode it as well.
    case read, decode
  }

  var work = Work.idle
  var path = ""
  var count = 0
  /// The queue is filled up to this length before the work.
  var length = 0

  static func parse(_ arguments: [String]) -> Result<BenchLoadOptions, Command.UsageError> {
    Result { () throws(Command.UsageError) in try read(arguments) }
  }

  private static func read(_ arguments: [String]) throws(Command.UsageError) -> BenchLoadOptions {
    var options = BenchLoadOptions()
    var arguments = Arguments(arguments)
    guard let work = arguments.next().flatMap(Work.init(rawValue:)) else {
      let names = Work.allCases.map(\.rawValue).joined(separator: ", ")
      throw Command.UsageError(message: "bench-load needs its work: one of \(names)")
    }
    options.work = work
    while let argument = arguments.next() {
      switch argument {
      case "--path": options.path = try arguments.value(of: argument)
      case "--count": options.count = try arguments.number(of: argument)
      case "--length": options.length = try arguments.number(of: argument)
      default: throw Command.UsageError(message: "bench-load has no option '\(argument)'")
      }
    }
    guard work == .idle || !options.path.isEmpty else {
      throw Command.UsageError(message: "bench-load \(work.rawValue) needs --path")
    }
    return options
  }
}
