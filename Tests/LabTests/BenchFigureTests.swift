import Foundation
import TestSupport
import Testing

@testable import Bench

@Suite struct BenchFigureTests {
  @Test func `percentiles are by nearest rank`() throws {
    let samples = Samples(nanoseconds: (1...100).reversed())
    #expect(try samples.percentile(50) == 50)
    #expect(try samples.percentile(99) == 99)
    #expect(try samples.percentile(100) == 100)
    #expect(try Samples(nanoseconds: [7]).percentile(50) == 7)
    #expect(throws: BenchError.noSamples("percentile")) { try Samples().percentile(50) }
  }

  @Test func `figures have the median rate and the percentiles of all runs`() throws {
    let runs = [[1_000, 1_000], [2_000, 2_000], [4_000, 4_000]].map { Samples(nanoseconds: $0) }
    let figures = try Figures(runs)
    #expect(figures.perSecond == 500_000)
    #expect(figures.p50 == 2 && figures.p99 == 4)
  }

  @Test func `medians`() throws {
    #expect(try Statistics.median([3, 1, 2]) == 2)
    #expect(try Statistics.median([4, 1, 3, 2]) == 2.5)
    #expect(throws: BenchError.noSamples("median")) { try Statistics.median([]) }
  }

  @Test func `ratios compare neighbours, and never divide by zero`() throws {
    // The machine was twice as slow during the second pair.
    #expect(try Statistics.ratios([10, 5, 12], to: [20, 10, 24]) == [0.5, 0.5, 0.5])
    #expect(throws: BenchError.noSamples("ratio")) { try Statistics.ratios([1], to: [0]) }
    #expect(throws: BenchError.noSamples("ratio")) { try Statistics.ratios([1, 2], to: [1]) }
    #expect(throws: BenchError.noSamples("ratio")) { try Statistics.ratios([], to: []) }
  }

  @Test func `payloads differ, and follow from the seed`() {
    var one = Payloads(seed: 1)
    var same = Payloads(seed: 1)
    let first = one.next(100)
    #expect(first.count == 100)
    #expect(first == same.next(100))
    #expect(first != one.next(100))
  }

  @Test func `every concurrent call is made once`() async throws {
    let calls = Calls()
    let run = try await AsyncBars.measure(callers: 8, operations: 21) { await calls.add($0) }
    #expect(await calls.numbers.sorted() == Array(0..<21))
    #expect(run.samples.nanoseconds.count == 21)
  }

  private actor Calls {
    var numbers: [Int] = []
    func add(_ number: Int) { numbers.append(number) }
  }

  @Test func `growth compares the halves`() throws {
    #expect(try SizeBars.growth([100, 50, 90, 110]) == 1.1)
    #expect(throws: BenchError.noSamples("growth of the file")) { try SizeBars.growth([1]) }
  }

  @Test func `the size of a table is that of its values`() throws {
    let path = NSTemporaryDirectory() + "/bench-\(UUID().uuidString).sqlite"
    defer { for suffix in ["", "-wal", "-shm"] { unlinkQuietly(path + suffix) } }
    let queue = try QueueSubject(path: path)
    let empty = try TableBytes.sum(of: QueueSubject.tombstoneTable, in: path)
    try queue.enqueue([1, 2, 3])
    try queue.acknowledge()
    #expect(empty == 0)
    #expect(try TableBytes.sum(of: QueueSubject.tombstoneTable, in: path) > 8)
    #expect(throws: BenchError.self) { try TableBytes.sum(of: "absent", in: path) }
    queue.close()
  }

  private func unlinkQuietly(_ path: String) {
    guard FileManager.default.fileExists(atPath: path) else { return }
    do {
      try FileManager.default.removeItem(atPath: path)
    } catch {
      Issue.record(error)
    }
  }
}
