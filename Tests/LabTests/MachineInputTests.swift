import CommandLineTools
import CommandTestSupport
import Exploration
import Foundation
import TestSupport
import Testing

@testable import purchase_lab

/// Inputs: a run in full, as a file.
@Suite struct MachineInputTests {
  private static let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
    .deletingLastPathComponent().appendingPathComponent("ExplorationTests/Inputs").path

  private static func files(_ name: String) throws -> [String] {
    try FileManager.default.contentsOfDirectory(atPath: folder + "/" + name).sorted()
      .filter { $0.hasSuffix(".json") }.map { folder + "/\(name)/" + $0 }
  }

  /// Each of them once broke an invariant. Its `about` says which.
  @Test func `no input of a failing run fails again`() throws {
    let files = try Self.files("Regressions")
    #expect(!files.isEmpty)
    for file in files {
      let input = try InputFile.read(file)
      let run = try SimulationChoice(checksProtocol: true).runner(of: input).run(input.seed)
      #expect(run.violation == nil, "\(file): \(run.violation?.what ?? "")")
    }
  }

  @Test func `the kept corpus can be read, and is small`() throws {
    let corpus = try InputCorpus(Self.folder + "/Corpus")
    #expect(corpus.inputs.count > 10)
    let size = try Self.files("Corpus").map { try Data(contentsOf: URL(fileURLWithPath: $0)).count }
    #expect(size.reduce(0, +) < 220_000)
  }

  @Test(arguments: [UInt64(4), 5, 6])
  func `the acts that a seed draws give its run when they are given`(seed: UInt64) throws {
    let input = MachineInput(seed: seed, profile: .swarm)
    let drawn = try SimulationChoice().runner(of: nil).run(seed)
    let given = try SimulationChoice().runner(of: input).run(seed)
    #expect(drawn.events == given.events && drawn.marks == given.marks && drawn.figures == given.figures)
  }

  @Test func `a file holds all of an input, also of a changed one`() throws {
    var search = GuidedSearch(profile: .swarm, from: 1)
    for number in 0..<GuidedSearch.first { search.take(search.next(), [UInt64(number) + 1]) }
    let inputs = (0..<60).compactMap { _ in search.next().input }
    #expect(inputs.count > 40)
    for input in inputs + [MachineInput(seed: 12, profile: .accounts)] {
      // Reading refuses acts that name what a run does not have.
      let text = try input.text()
      let again = try MachineInput(text: text)
      let textAgain = try again.text()
      #expect(textAgain == text)
      #expect(again.acts.count == input.acts.count)
    }
  }

  @Test func `an act goes with the purchase that it names, and others name it by its new place`() {
    let buying = Act.buy(
      Buying(
        phone: 0, product: 0, hasOrder: true, forgetsToken: false, proofs: .signed, waits: 0, poison: .none))
    let acts = [
      PlannedAct(at: 10, act: buying), PlannedAct(at: 20, act: buying),
      PlannedAct(at: 30, act: .refund(purchase: 0)), PlannedAct(at: 40, act: .refund(purchase: 1)),
    ]
    let input = MachineInput(knobs: MachineKnobs(seed: 1, profile: .calm), acts: acts).keeping([1, 2, 3])
    #expect(input.acts.map(\.at) == [20, 40])
    guard case .refund(0) = input.acts[1].act else {
      Issue.record("\(input.acts)")
      return
    }
  }

  private static let knobs =
    #""accounts":1,"confirmation":9,"entries":9,"hasVault":false,"latency":9,"milliseconds":90,"#
    + #""profile":"calm","quarantined":9,"seed":1,"storeAccounts":1,"tombstones":9,"unclaimed":"device""#

  @Test(arguments: [
    ("{", "it is no input of explore --guided"),
    (#"{"knobs":{"phones":4,KNOBS},"acts":[]}"#, "it needs 1 to 3 phones"),
    (#"{"knobs":{"phones":1,KNOBS},"acts":[{"at":1,"act":"fly"}]}"#, "act 0 ('fly') is none of this run"),
    (#"{"knobs":{"phones":1,KNOBS},"acts":[{"at":1,"act":"claim","phone":2}]}"#, "act 0 ('claim') is none"),
    (#"{"knobs":{"phones":1,KNOBS},"acts":[{"at":1,"act":"refund","purchase":0}]}"#, "act 0 names act 0"),
    (#"{"knobs":{"phones":1,KNOBS},"acts":[{"at":2,"act":"claim"},{"at":1,"act":"claim"}]}"#, "the order"),
    (#"{"knobs":{"phones":1,KNOBS},"acts":[{"at":99,"act":"claim"}]}"#, "act 0 ('claim') is none"),
  ])
  func `a file that is no input is refused, and the message says why`(text: String, said: String) throws {
    try TemporaryDirectory.with("Input") { directory in
      let path = directory + "/input.json"
      try InputFile.write(text.replacingOccurrences(of: "KNOBS", with: Self.knobs), to: path)
      let result = try CommandResult(of: ["replay", "--input", path], by: .lab)
      #expect(result.status == 65 && result.errors.contains(said), "\(result.errors)")
    }
    let missing = try CommandResult(of: ["replay", "--input", "/nowhere.json"], by: .lab)
    #expect(missing.status == 66)
  }

  @Test func `a failing run is written as a small input that replay repeats`() throws {
    try TemporaryDirectory.with("Failing") { directory in
      let bug = MachineBug.finishBeforeAcknowledgement.rawValue
      let result = try CommandResult(
        of: [
          "explore", "--guided", "--plant", bug, "--seeds", "2", "--failing", directory,
        ], by: .lab)
      #expect(result.status == 1, "\(result.errors)")
      let name = try #require(try FileManager.default.contentsOfDirectory(atPath: directory).first)
      let path = directory + "/" + name
      #expect(result.output.contains("written to \(path)"))
      #expect(result.output.contains("purchase-lab replay --input \(path) --plant \(bug)"))
      let input = try InputFile.read(path)
      #expect(input.acts.count <= 12)
      let again = try CommandResult(of: ["replay", "--input", path, "--plant", bug], by: .lab)
      #expect(again.status == 1 && again.output.contains("invariant 3 is broken"))
      let without = try CommandResult(of: ["replay", "--input", path], by: .lab)
      #expect(without.status == 0 && without.output.hasSuffix("nothing was broken\n"))
    }
  }

  @Test func `a corpus grows by what a search kept, and not if it is read only`() throws {
    try TemporaryDirectory.with("Corpus") { directory in
      let words = ["explore", "--guided", "--seeds", "6", "--corpus", directory]
      let reading = try CommandResult(of: words + ["--read-only"], by: .lab)
      let before = try InputCorpus(directory).inputs
      #expect(reading.output.contains("corpus of 0 inputs") && before.isEmpty)
      let first = try CommandResult(of: words, by: .lab)
      let count = try InputCorpus(directory).inputs.count
      #expect(count > 2 && first.output.contains("\(count) inputs added to \(directory)"))
      let second = try CommandResult(of: words, by: .lab)
      #expect(second.output.contains("corpus of \(count) inputs"))
    }
  }
}
