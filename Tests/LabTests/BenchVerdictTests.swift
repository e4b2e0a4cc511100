import CommandLineTools
import Foundation
import Testing

@testable import Bench

@Suite struct BenchVerdictTests {
  private func bar(_ measured: Double?, _ bound: Bar.Bound) -> Bar {
    Bar(
      number: 2, what: "enqueue", measured: measured, bound: bound, reason: measured == nil ? "no tool" : nil)
  }

  @Test func `a bar is kept at its limit and missed beyond it`() {
    #expect(bar(0.90, .atLeast(0.90)).isKept == true)
    #expect(bar(0.89, .atLeast(0.90)).isKept == false)
    #expect(bar(1.02, .atMost(1.02)).isKept == true)
    #expect(bar(1.03, .atMost(1.02)).isKept == false)
    #expect(bar(.nan, .atMost(1.02)).isKept == false)
  }

  @Test func `a bar that was not measured is neither kept nor missed`() {
    let unknown = bar(nil, .atLeast(1))
    #expect(unknown.isKept == nil)
    #expect(unknown.verdictText == "not measured: no tool")
    #expect(Bar.missed([unknown, bar(2, .atLeast(1))]).isEmpty)
    #expect(Bar.missed([unknown, bar(0, .atLeast(1))]).count == 1)
  }

  @Test func `repetitions give the median and the spread`() throws {
    let bar = try Bar.times(3, "enqueue", [1.3, 0.8, 1.1], .atLeast(1.1))
    #expect(bar.measured == 1.1 && bar.isKept == true)
    #expect(bar.spread == 0.8...1.3)
    #expect(bar.verdictText == "ok      (0.80x to 1.30x)")
  }

  @Test func `a report with one missed bar is a miss`() throws {
    var report = BenchReport(isQuick: true, directory: "/disk")
    report.sections = [BenchSection(title: "one", bars: [bar(1, .atLeast(1)), bar(nil, .atLeast(1))])]
    #expect(!report.hasMissed)
    #expect(report.summary.hasPrefix("1 of 1 kept, 1 not measured"))
    report.sections.append(BenchSection(title: "two", bars: [bar(0.5, .atLeast(1))]))
    #expect(report.hasMissed)
    #expect(report.summary.hasSuffix("missed in bar 2"))
  }

  @Test func `each row of the document has every key`() throws {
    var report = BenchReport(isQuick: true, directory: "/disk")
    report.sections = [BenchSection(title: "one", bars: [bar(0.5, .atLeast(0.9)), bar(nil, .atLeast(1))])]
    let document = try JSONSerialization.jsonObject(with: Data(try report.json().utf8))
    let sections = try #require((document as? [String: Any])?["sections"] as? [[String: Any]])
    let rows = try #require(sections.first?["bars"] as? [[String: Any]])
    for row in rows {
      #expect(Set(row.keys).isSuperset(of: ["number", "what", "unit", "measured", "bar", "ok", "reason"]))
    }
    #expect(rows[0]["ok"] as? Bool == false && rows[0]["bar"] as? String == ">= 0.90x")
    #expect(rows[1]["ok"] is NSNull && rows[1]["reason"] as? String == "no tool")
  }

  @Test func `numbers as text`() {
    #expect(BenchText.fixed(1.005, 2) == "1.00" || BenchText.fixed(1.005, 2) == "1.01")
    #expect(BenchText.fixed(12.3456, 1) == "12.3")
    #expect(BenchText.fixed(0.04, 2) == "0.04")
    #expect(BenchText.fixed(-0.001, 2) == "0.00")
    #expect(BenchText.fixed(-1.5, 1) == "-1.5")
    #expect(BenchText.fixed(4414.6, 0) == "4415")
  }

  @Test func `each call in strace's log is counted once, with its file`() {
    let log = """
      4711 fdatasync(5</tmp/b/queue.sqlite-wal>) = 0
      4711 fsync(6</tmp/b> <unfinished ...>
      4712 <... fsync resumed>)        = 0
      4711 fsync(6</tmp/b>)            = -1 EIO (Input/output error)
      4711 +++ exited with 0 +++
      fdatasync(3</tmp/b/queue.sqlite>)     = 0
      """
    #expect(
      SyncCall.parse(log) == [
        SyncCall(name: "fdatasync", path: "/tmp/b/queue.sqlite-wal"),
        SyncCall(name: "fsync", path: "/tmp/b"),
        SyncCall(name: "fsync", path: "/tmp/b"),
        SyncCall(name: "fdatasync", path: "/tmp/b/queue.sqlite"),
      ])
  }

  @Test func `peak memory is read from the status of the process`() {
    #expect(PeakMemory.parse("Name:\tx\nVmPeak:\t  9 kB\nVmHWM:\t   24188 kB\nVmRSS:\t 1 kB\n") == 24_188)
    #expect(PeakMemory.parse("Name:\tx\n") == nil)
  }
}
