import Testing

@testable import Fleet

struct PublishedExperimentTests {
  @Test func `each published experiment is found again`() {
    let experiments = PublishedExperiments(runs: 40, seed: 1)
    let others = experiments.rows.filter { !$0.agrees }.map { "\($0.what): \($0.ours), not \($0.theirs)" }
    #expect(others == [])
    #expect(experiments.rows.count == 19)
  }

  @Test(arguments: PublishedExperiments.chains)
  func `the chain predicts the recovery within a tenth`(chain: RecoveryChain) {
    let (predicted, simulated) = (chain.predicted, chain.simulated(runs: 4, seed: 7))
    #expect(abs(predicted - simulated) <= 0.1 * simulated)
  }

  @Test func `a chain of fewer callers recovers sooner`() {
    var chain = PublishedExperiments.chains[0]
    let before = chain.predicted
    chain.waiting /= 2
    #expect(chain.predicted < before)
  }

  @Test func `without failures a call is one request`() {
    for rule in [RetryStudy.Rule.tries, .bucket] {
      #expect(
        RetryStudy.load(rule, clients: 3, calls: 1_000, failing: 0, startsFull: false, seed: 1) == 1)
    }
  }

  @Test func `a backend without an amplifier's overload stays good, and a failed one is not`() {
    for result in MetastableStudy.results() {
      #expect(result.stableBelow == 0.95)
      #expect(result.endsAt > 0)
    }
  }

  @Test func `events of one moment come in the order of planning`() {
    var heap = TimeHeap<Int>()
    for number in 0..<20 { heap.plan(number, at: Double(number % 3)) }
    var seen: [(Double, Int)] = []
    while let (at, number) = heap.next() { seen.append((at, number)) }
    #expect(seen.map(\.1) == (0..<3).flatMap { third in (0..<20).filter { $0 % 3 == third } })
  }
}
