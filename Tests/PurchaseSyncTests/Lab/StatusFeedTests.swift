import Foundation
import PurchaseQueue
import Testing

@testable import PurchaseSync

/// What the readers of a status get, without a shop: a look too many, a change that is missed, a status that comes twice.
@Suite struct StatusFeedTests {
  private enum Event {
    case reader, gone, changed
    case looked(ShopStatus?)
  }

  private static let one = ShopStatus(outcomesForgotten: 1)
  private static let two = ShopStatus(outcomesForgotten: 2)

  /// Events, how many looks they begin, and what is published.
  private static let table: [(String, [Event], looks: Int, published: [ShopStatus])] = [
    ("no reader", [.changed, .changed], 0, []),
    ("a change is one look", [.reader, .changed, .looked(one)], 1, [one]),
    (
      "many changes are two looks", [.reader, .changed, .changed, .changed, .looked(one), .looked(two)], 2,
      [one, two]
    ),
    ("nothing new", [.reader, .changed, .looked(one), .changed, .looked(one)], 2, [one]),
    ("in the background", [.reader, .changed, .looked(nil), .changed, .looked(one)], 2, [one]),
    (
      "the reader goes during a look", [.reader, .changed, .changed, .gone, .looked(one), .changed], 1, [one]
    ),
  ]

  @Test(arguments: table)
  private func `changes lead to looks, and looks to what is new`(
    name: String, events: [Event], looks: Int, published: [ShopStatus]
  ) {
    var (feed, begun, found, readers) = (StatusFeed<Int>(), 0, [ShopStatus](), [Int]())
    for event in events {
      switch event {
      case .reader: readers.append(feed.add(readers.count))
      case .gone: feed.remove(readers.removeLast())
      case .changed: begun += feed.changed() ? 1 : 0
      case .looked(let status):
        let (next, looksAgain) = feed.looked(status)
        found += next.map { [$0] } ?? []
        begun += looksAgain ? 1 : 0
      }
    }
    #expect(begun == looks)
    #expect(found == published)
    #expect(feed.lastPublished == published.last)
  }

  @Test func `what the engine does not see is added to its status, and is not taken from an old one`() {
    var feed = StatusFeed<Int>()
    let late = LateCall(.fulfil, about: "a", since: Date(timeIntervalSince1970: 1))
    let sheet = LateCall(.sheet, about: "b", since: Date(timeIntervalSince1970: 0))
    let store = LateCall(.store, about: "c", since: Date(timeIntervalSince1970: 2))
    let first = feed.status(ShopStatus(lateCalls: [store]), fulfilmentProblem: nil, late: [late, sheet])
    #expect(first.lateCalls == [sheet, late, store])
    #expect(first.fulfilmentProblem == "fulfil has not returned for a")
    _ = feed.looked(first)
    feed.confirmationProblem = .store(reason: "a test")
    let second = feed.status(nil, fulfilmentProblem: "E 1", late: [])
    #expect(second.lateCalls == [store])
    #expect(second.fulfilmentProblem == "E 1")
    #expect(second.problem == .store(reason: "a test"))
    feed.fileProblem = .signInNeeded(account: "alice")
    #expect(feed.status(nil, fulfilmentProblem: nil, late: []).problem == .signInNeeded(account: "alice"))
  }
}
