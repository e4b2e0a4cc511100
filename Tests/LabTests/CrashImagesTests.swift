import CommandLineTools
import CommandTestSupport
import Foundation
import TestSupport
import Testing

@testable import purchase_lab

/// `crash-images`, run from the command line.
@Suite struct CrashImagesTests {
  private struct Document: Decodable {
    struct Row: Decodable {
      var name: String
      var workloads: Int
      var images: Int
      var lost: Int
      var corrupt: Int
      var broken: Int
      var faults: Int
      var refused: Int
    }

    var holds: Bool
    var rows: [Row]
    var failures: [ImageFailure]
    var fingerprint: String
  }

  private func run(_ arguments: [String]) throws -> (status: Int32, document: Document) {
    let result = try CommandResult(of: ["crash-images", "--json"] + arguments, by: .lab)
    #expect(result.errors == "")
    return (result.status, try JSONDecoder().decode(Document.self, from: Data(result.output.utf8)))
  }

  @Test(.enabled(if: LongTests.areOn))
  func `no image of any operation loses a commit, and images of each control do`() throws {
    let (status, document) = try run(["--depth", "1", "--cap", "12", "--no-faults"])
    #expect(status == 0 && document.holds && document.failures.isEmpty)
    #expect(
      document.rows.map(\.name) == [
        "1 operation", "control wal-normal", "control rollback-full", "control arrival-soon",
        "control verdict-soon", "control header-unsynced",
      ])
    let production = try #require(document.rows.first)
    #expect(production.workloads == ImageKind.allCases.count && production.workloads >= 12)
    #expect(production.lost + production.corrupt + production.broken == 0)
    #expect(production.images > 500)
    for control in document.rows.dropFirst().dropLast() { #expect(control.lost > 0, "\(control.name)") }
    // Frames over an old log, whose header is still there, are no prefix of any log.
    #expect((document.rows.last?.corrupt ?? 0) > 0)
  }

  @Test func `a disk that fails at any operation leaves the state before or after`()
    throws
  {
    let only = LongTests.some(["settle", "order", "enqueue,settle"], every: 3).flatMap { ["--only", $0] }
    let (status, document) = try run(["--cap", "12"] + only)
    #expect(status == 0 && document.failures.isEmpty)
    let tallies = document.rows
    #expect(
      tallies.map(\.faults).reduce(0, +) > LongTests.count(short: 100, long: 500)
        && tallies.allSatisfy { $0.refused > 0 })
  }

  @Test func `the result depends on the seed and not on the number of workers`() throws {
    let names = LongTests.some(["enqueue", "checkpoint"], every: 2)
    let only = names.flatMap { ["--only", $0] } + ["--cap", "6", "--no-faults"]
    let one = try run(only + ["--seed", "5", "--jobs", "1"]).document.fingerprint
    #expect(try run(only + ["--seed", "5", "--jobs", "2"]).document.fingerprint == one)
    #expect(try run(only + ["--seed", "6", "--jobs", "2"]).document.fingerprint != one)
  }

  /// The last place of a workload, with this fate for each operation that is not durable there. The messages of the
  /// command name the places.
  private func end(of name: String, _ fate: String) throws -> String {
    let places = try CommandResult(of: ["crash-images", "--replay", "\(name)@0/"], by: .lab).errors
    let last = try #require(places.firstMatch(of: /it has [0-9]+ to ([0-9]+)/)?.1)
    let fates = try CommandResult(of: ["crash-images", "--replay", "\(name)@\(last)/"], by: .lab).errors
    let pending = fates.firstMatch(of: /the power can take ([0-9]+) operation/).flatMap { Int($0.1) } ?? 0
    return "\(name)@\(last)/" + String(repeating: fate, count: pending)
  }

  @Test func `an image is shown by its address, and a lost commit ends with 1`() throws {
    let kept = try CommandResult(of: ["crash-images", "--replay", try end(of: "enqueue", "+")], by: .lab)
    #expect(kept.status == 0 && kept.output.contains("after the call has returned"))
    #expect(kept.output.hasSuffix("nothing is wrong\n"))
    let address = try end(of: "wal-normal:enqueue", "-")
    #expect(address.hasSuffix("-"))
    let lost = try CommandResult(of: ["crash-images", "--replay", address], by: .lab)
    #expect(lost.status == 1 && lost.output.hasSuffix("a commit that had returned is gone\n"))
    #expect(try CommandResult(of: ["crash-images", "--replay", "settle!full-on1"], by: .lab).status == 0)
    #expect(try CommandResult(of: ["crash-images", "--replay", "settle!ioerr2"], by: .lab).status == 0)
    let recovery = ["crash-images", "--replay", try end(of: "enqueue", "+") + "!ioerr19"]
    #expect(try CommandResult(of: recovery, by: .lab).output == "nothing is wrong\n")
  }

  @Test(arguments: [
    ("nonsense", "--replay takes what crash-images prints"), ("enqueue@x/", "--replay takes what"),
    ("enqueue@90/?", "--replay takes what"), ("settle!empty1", "--replay takes what"),
    ("enqeue@90/", "there is no workload 'enqeue'; did you mean 'enqueue'?"),
    ("settle,create!full1", "there is no workload 'settle,create': create can only come first"),
    ("wal:enqueue@90/", "there is no control 'wal': there are wal-normal, rollback-full, "),
    ("enqueue@99999/", "there is no place 99999 in enqueue: it has "),
    ("wal-normal:enqueue@1/", "there is no place 1 in wal-normal:enqueue: it has "),
    ("settle!ioerr99999", "there is no fault 99999 of settle!ioerr: "),
    ("settle!full-on0", "there is no fault 0 of settle!full: "), ("settle", "--replay takes what"),
    ("wal-normal:enqueue@1/!ioerr1", "a control has no faults"),
  ])
  func `an unknown image or fault is wrong usage, and the message names the known ones`(
    address: String, said: String
  ) throws {
    let result = try CommandResult(of: ["crash-images", "--replay", address], by: .lab)
    #expect(result.status == 64 && result.output.isEmpty)
    #expect(result.errors.contains(said), "\(result.errors)")
    #expect(result.errors.hasSuffix("Try 'purchase-lab help crash-images'.\n"))
  }

  @Test func `an image with other operations than its place has is wrong usage`() throws {
    let address = try end(of: "wal-normal:enqueue", "-") + "+"
    let result = try CommandResult(of: ["crash-images", "--replay", address], by: .lab)
    #expect(result.status == 64 && result.errors.contains("behind the slash each has its fate"))
  }

  @Test(arguments: [
    (["--depth", "4"], "1, 2 or 3"), (["--dept"], "did you mean '--depth'?"),
    (["--only", "enqeue"], "did you mean 'enqueue'?"), (["--only", "settle,create"], "no workload"),
    (["--only", "settle", "--depth", "3"], "--only and --depth do not go together"),
    (["--replay", "settle!full1", "--json"], "--replay and --json do not go together"),
  ])
  func `the answer to wrong usage says what to type instead`(arguments: [String], part: String) {
    guard case .failure(let error) = CrashImagesOptions.parse(arguments) else {
      Issue.record("accepted")
      return
    }
    #expect(error.message.contains(part), "\(error.message)")
  }

  @Test func `a workload that is named twice is run once`() throws {
    let options = try CrashImagesOptions.parse(["--only", "settle", "--only", "create", "--only", "settle"])
      .get()
    #expect(options.workloads.map(\.name) == ["settle", "create"])
  }

  @Test func `the workloads are all sequences up to the depth, each once`() {
    let (beginnings, operations) = (ImageKind.beginnings.count, ImageKind.operations.count)
    #expect(operations >= 8)
    let all = ImageWorkload.all(depth: 3)
    #expect(Set(all).count == all.count)
    let one = beginnings + operations
    #expect(all.count == one * (1 + operations + operations * operations))
    for workload in all.prefix(500) { #expect(ImageWorkload(name: workload.name) == workload) }
  }
}

/// `crash-images --damage`, run from the command line.
@Suite struct DamageCommandTests {
  @Test func `a sample of damaged queues keeps every entry that is not touched and tells every loss`() throws
  {
    let cases = LongTests.count(short: 60, long: 240)
    let result = try CommandResult(
      of: [
        "crash-images", "--damage", "--cases", "\(cases)", "--seed", "3", "--json",
      ], by: .lab)
    #expect(result.errors == "")
    let tally = try JSONDecoder().decode(DamageCommand.Tally.self, from: Data(result.output.utf8))
    #expect(result.status == 0 && tally.failures == [] && tally.failed == 0)
    #expect(tally.cases == cases && tally.salvaged > cases / 3)
    #expect(tally.untouched > 2 * cases && tally.kept == tally.untouched && tally.silentLosses == 0)
    #expect(tally.worstMilliseconds > 0)
  }

  /// The one case of 922,039 that lost an attempt's count: the page number of a commit's frame, 40, became 56.
  @Test func `a page number behind the end of its commit is corrected`() throws {
    let result = try CommandResult(
      of: [
        "crash-images", "--damage", "--case", "killed/log/flip/235036", "--json",
      ], by: .lab)
    let tally = try JSONDecoder().decode(DamageCommand.Tally.self, from: Data(result.output.utf8))
    #expect(result.status == 0 && tally.salvaged == 1)
    #expect(tally.untouched == 5 && tally.kept == 5)
  }

  @Test(arguments: [
    "closed/note/zero/0", "killed/note/zero/0", "killed/note/cut/0", "killed/note/cut/7",
    "killed/note/flip/77",
  ])
  func `a broken note of what is durable loses nothing`(name: String) throws {
    let result = try CommandResult(of: ["crash-images", "--damage", "--case", name, "--json"], by: .lab)
    let tally = try JSONDecoder().decode(DamageCommand.Tally.self, from: Data(result.output.utf8))
    #expect(result.status == 0 && tally.salvaged == 0)
    #expect(tally.untouched > 0 && tally.kept == tally.untouched)
  }

  @Test(arguments: [
    "closed/file/flip/800", "killed/note/flip/77", "killed/log/zero/3", "killed/file/swap/1-2",
    "closed/file/repeat/4-2",
  ])
  func `a case has a name that leads to it`(name: String) throws {
    let damage = try #require(DamageCase(name: name))
    #expect(damage.name == name)
  }

  @Test(arguments: [
    (["--damage", "--case", "open/file/flip/1"], "--case takes what"), (["--all"], "need --damage"),
    (["--damage", "--depth", "2"], "do not go together"), (["--damage", "--from", "x"], "--from needs"),
  ])
  func `the answer to wrong usage of damage says what to type`(arguments: [String], part: String) {
    guard case .failure(let error) = CrashImagesOptions.parse(arguments) else {
      Issue.record("accepted")
      return
    }
    #expect(error.message.contains(part), "\(error.message)")
  }
}
