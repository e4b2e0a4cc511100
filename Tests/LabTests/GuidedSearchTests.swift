import Exploration
import TestSupport
import Testing

@testable import purchase_lab

/// The guided search: what it runs, what it counts, and that one seed gives one search.
@Suite struct GuidedSearchTests {
  private func explored(_ runs: Int, jobs: Int, bug: MachineBug? = nil) throws -> GuidedExplorer {
    let choice = SimulationChoice(bug: bug?.rawValue)
    var explorer = GuidedExplorer(choice, GuidedSearch(profile: .swarm, from: 1, first: 6), jobs: jobs)
    try explorer.run(count: runs)
    return explorer
  }

  @Test func `one seed gives one search, on one thread and on several`() throws {
    let runs = 20
    let (one, two) = (try explored(runs, jobs: 1), try explored(runs, jobs: 2))
    #expect(one.search.runs == runs)
    #expect(one.points.map(\.behaviours) == two.points.map(\.behaviours))
    #expect(one.sum.events == two.sum.events && one.sum.marks == two.sum.marks)
    #expect(one.search.rarest(50).map(\.behaviour) == two.search.rarest(50).map(\.behaviour))
  }

  @Test func `the first runs are those of the random search, and later ones are changed inputs`() throws {
    var search = GuidedSearch(profile: .swarm, from: 9)
    let runner = SimulationChoice().runner(of: nil)
    for number in 0..<GuidedSearch.first {
      let plan = search.next()
      #expect(plan.input == nil && plan.seed == 9 + number)
      // Two of them show something: that is enough to go on with.
      search.take(plan, number < 2 ? try runner.watchedRun(plan.seed).seen : [])
    }
    #expect((0..<40).map { _ in search.next() }.count { $0.input != nil } > 20)
    var random = search.unguided
    #expect((0..<40).allSatisfy { _ in random.next().input == nil })
  }

  @Test func `the inputs of a corpus follow the first runs`() {
    let corpus = [MachineInput(seed: 501, profile: .crash), MachineInput(seed: 502, profile: .crash)]
    var search = GuidedSearch(profile: .swarm, from: 1, corpus: corpus)
    let plans = (0..<GuidedSearch.first + 3).map { _ in search.next() }
    #expect(plans.compactMap(\.input).map(\.seed) == [501, 502])
    #expect(plans[Int(GuidedSearch.first)].input?.seed == 501)
  }

  @Test func `noting behaviours changes no run`() throws {
    let runner = SimulationChoice().runner(of: nil)
    for seed: UInt64 in [3, 11] {
      let (run, watched) = (try runner.run(seed), try runner.watchedRun(seed))
      #expect(run.isSameRun(as: watched.run) && run.marks == watched.run.marks)
      #expect(watched.seen.count > 100 && Set(watched.seen).count == watched.seen.count)
    }
  }

  @Test func `every behaviour has a sentence`() throws {
    let runner = SimulationChoice().runner(of: nil)
    var sentences: [String: Set<UInt8>] = [:]
    for seed: UInt64 in 1...3 {
      for word in try runner.watchedRun(seed).seen {
        let behaviour = Behaviour(word: word)
        #expect(!behaviour.sentence.contains("?"), "\(String(word, radix: 16))")
        sentences[behaviour.sentence, default: []].insert(behaviour.event)
      }
    }
    #expect(sentences.count > 500)
    #expect(sentences.values.allSatisfy { $0.count == 1 || $0.count == 2 })
  }

  // MARK: The verdict of a comparison

  private func row(_ random: [Double?], _ guided: [Double?]) -> GuidedComparison.Row {
    func found(_ seconds: [Double?]) -> GuidedComparison.Found {
      .init(runs: seconds.map { $0.map { Int($0 * 100) } }, seconds: seconds)
    }
    return .init(plant: "bug", random: found(random), guided: found(guided), isShared: false)
  }

  @Test func `a search with fewer behaviours, fewer bugs or later bugs misses its bar`() {
    func verdict(_ behaviours: Int, _ rows: [GuidedComparison.Row]) -> GuidedVerdict {
      GuidedVerdict(behaviours: (1_000, behaviours), ratio: 1.5, rows)
    }
    let equal = row([1, 2, 3], [1, 2, 3])
    #expect(verdict(1_500, [equal]).isGood && !verdict(1_499, [equal]).isGood)
    #expect(!verdict(2_000, [equal, row([1, 2, 3], [nil, nil, nil])]).isGood)
    #expect(verdict(2_000, [equal, row([nil, nil, nil], [1, nil, nil])]).isGood)
    let later = verdict(2_000, [row([1, 2, 3], [1, 2.5, 3])])
    #expect(!later.isGood && later.lines.contains { $0.hasSuffix("random search: bug") })
  }

  @Test func `a bug that most trials miss has no median`() {
    #expect(GuidedComparison.Found.median([3, nil, 1]) == 3)
    #expect(GuidedComparison.Found.median([nil, nil, 1]) == nil)
  }
}
