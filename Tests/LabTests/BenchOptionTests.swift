import Bench
import CommandLineTools
import Testing

@testable import purchase_lab

@Suite struct BenchOptionTests {
  private func message(_ arguments: [String]) -> String? {
    guard case .failure(let error) = Command.parse(arguments) else { return nil }
    return error.message
  }

  @Test func `all options of bench queue are parsed`() {
    let words = [
      "bench", "queue", "--check", "--json", "--quick", "--directory", "/disk", "--only", "2", "--only", "8",
    ]
    let options = BenchOptions(check: true, json: true, quick: true, directory: "/disk", only: [2, 8])
    #expect(Command.parse(words) == .success(.bench(options)))
    #expect(Command.parse(["bench", "queue"]) == .success(.bench(BenchOptions())))
  }

  @Test func `each bench can be run, and is in the help page`() {
    for bench in Benchmark.all {
      var options = BenchOptions(check: true, only: bench.bars)
      options.bench = bench.name
      let words = ["bench", bench.name, "--check"] + bench.bars.flatMap { ["--only", String($0)] }
      #expect(Command.parse(words) == .success(.bench(options)))
      #expect(CommandHelp<Command>.named("bench")?.page.contains("\n  \(bench.name) ") == true)
    }
    #expect(Set(Benchmark.names).count == Benchmark.all.count)
  }

  @Test func `the options of a child are parsed`() {
    let words = ["bench-load", "cycle", "--path", "/q", "--count", "7", "--length", "50"]
    let options = BenchLoadOptions(work: .cycle, path: "/q", count: 7, length: 50)
    #expect(Command.parse(words) == .success(.benchLoad(options)))
    #expect(Command.parse(["bench-load", "idle"]) == .success(.benchLoad(BenchLoadOptions())))
  }

  @Test func `the child of bench upload gets its way and its number`() throws {
    #expect(UploadLoad.parse(["engine", "7"]) == .success(UploadLoad(way: .engine, requests: 7)))
    for wrong in [[], ["engine"], ["other", "7"], ["bare", "-1"], ["bare", "x"]] {
      guard case .failure = UploadLoad.parse(wrong) else {
        Issue.record("\(wrong) was taken")
        continue
      }
    }
  }

  @Test(arguments: [
    (["bench", "upload", "--chek"], "did you mean '--check'?"),
    (["bench"], "what is to be measured: queue"),
    (["bench", "queu"], "did you mean 'queue'?"),
    (["bench", "queue", "--quik"], "did you mean '--quick'?"),
    (["bench", "queue", "extra"], "no option 'extra'"),
    (["bench", "queue", "--directory"], "--directory needs a value"),
    (["bench", "queue", "--only", "4"], "there is no bar 4"),
    (["bench", "machin"], "did you mean 'machine'?"),
    (["bench", "match", "--directory", "/disk"], "bench match has no option '--directory'"),
    (["bench", "match", "--only", "9"], "bench match knows 1, 2"),
    (["bech"], "did you mean 'bench'?"),
    (["bench-load"], "one of enqueue, acknowledge, cycle, idle"),
    (["bench-load", "enqueue"], "needs --path"),
    (["bench-load", "enqueue", "--path", "/q", "--count", "-1"], "whole number"),
    (["bench-load", "idle", "--nonsense"], "no option '--nonsense'"),
  ])
  func `the answer to wrong usage says what to type instead`(arguments: [String], part: String) {
    let message = message(arguments)
    #expect(message?.contains(part) == true, "\(message ?? "accepted")")
  }
}
