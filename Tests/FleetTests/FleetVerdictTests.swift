import Testing

@testable import Fleet

/// What a result is called.
@Suite struct FleetVerdictTests {
  private func kind(_ change: (inout FleetResult) -> Void) -> FleetVerdict.Kind {
    var result = FleetResult()
    (result.drains, result.peakOverCapacity, result.amplification) = (true, 1, 1)
    change(&result)
    return FleetVerdict(result).kind
  }

  @Test func `a result gets another verdict`() {
    #expect(kind { _ in } == .calm)
    #expect(kind { $0.peakOverCapacity = 1.51 } == .drains)
    #expect(kind { $0.amplification = 1.21 } == .drains)
    #expect(kind { ($0.drains, $0.peakOverCapacity) = (false, 2) } == .metastable)
    #expect(kind { ($0.drains, $0.peakOverCapacity) = (false, 0.5) } == .waits)
    #expect(kind { $0.dropped = 1 } == .loses)
    #expect(kind { ($0.wasInterrupted, $0.dropped) = (true, 1) } == .undecided)
  }

  @Test(arguments: [(0.994, "are served"), (0.993, "suffer")])
  func `new purchases are not mentioned`(served: Double, words: String) {
    var result = FleetResult()
    result.newServedWithinMinute = served
    #expect(FleetVerdict(result).words.contains("new purchases \(words)"))
  }
}
