import PurchaseSQLite

/// A moment of one purchase.
enum PurchaseStep: String, CaseIterable {
  case orderAsked = "order asked"
  case sheetShown = "sheet shown"
  case uploadSent = "upload sent"
  case returned
  case fulfilled
  case finished
}

/// When each step of one purchase came. The store, the backend and the caller report them.
final class PurchaseSteps: Sendable {
  private let state = Locked((began: ContinuousClock.now, reached: [PurchaseStep: ContinuousClock.Instant]()))

  func begin() { state.withLock { $0 = (.now, [:]) } }

  /// The first time counts.
  func reach(_ step: PurchaseStep) {
    let now = ContinuousClock.now
    state.withLock { if $0.reached[step] == nil { $0.reached[step] = now } }
  }

  /// Milliseconds since the beginning, in the order of the steps; nil for a step that did not come.
  var milliseconds: [Double?] {
    state.withLock { state in
      PurchaseStep.allCases.map { step in
        state.reached[step].map { Double((state.began.duration(to: $0)).wholeNanoseconds) / 1e6 }
      }
    }
  }

  /// The median of each step over several purchases.
  static func medians(_ purchases: [[Double?]]) throws(BenchError) -> [Double] {
    var medians: [Double] = []
    for place in PurchaseStep.allCases.indices {
      medians.append(try Statistics.median(purchases.compactMap { $0[place] }))
    }
    return medians
  }

  static func text(_ milliseconds: [Double]) -> String {
    zip(PurchaseStep.allCases, milliseconds).map { "\($0.rawValue) \(BenchText.fixed($1, 2))" }
      .joined(separator: ", ") + " ms"
  }
}
