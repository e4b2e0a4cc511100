import Testing

@testable import PurchaseSync

/// Where a payment sheet is shown in an app with several scenes.
@Suite struct SceneOrderTests {
  private enum Step {
    case to(Int), left(Int)
  }

  @Test(
    arguments: [
      ([], nil), ([.to(1)], 1), ([.to(1), .to(2)], 2), ([.to(1), .to(2), .to(1)], 1),
      ([.to(1), .to(2), .left(2)], 1), ([.to(1), .to(2), .left(1)], 2), ([.to(1), .left(1)], nil),
      ([.left(1)], nil), ([.to(1), .to(1), .left(1)], nil), ([.to(1), .left(1), .to(1)], 1),
    ] as [([Step], Int?)])
  private func `the sheet is in the scene that the user turned to last, if it is still there`(
    steps: [Step], front: Int?
  ) {
    var order = SceneOrder<Int>()
    for step in steps {
      switch step {
      case .to(let scene): order.turnedTo(scene)
      case .left(let scene): order.leftScreen(scene)
      }
    }
    #expect(order.front == front)
  }
}
