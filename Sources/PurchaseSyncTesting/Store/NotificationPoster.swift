public import Foundation
public import PurchaseQueue

/// Posts what the store has to tell. Thin: the queue decides what and when, somebody else knows the backend's URL.
public struct NotificationPoster: Sendable {
  private let take: @Sendable (Timestamp) -> [OutgoingNotification]
  private let settle: @Sendable (Int, Int?, Timestamp) -> Void
  private let post: @Sendable (Data) async -> Int?

  /// A poster for any holder of a `StoreModel`.
  ///
  /// - Parameters:
  ///   - take: Takes what is due; see ``StoreModel/takeNotifications(now:)``.
  ///   - settle: Hands back the answer; see ``StoreModel/settleNotification(id:status:now:)``.
  ///   - post: Posts the body as `application/json` and gives the HTTP status; nil for no answer.
  public init(
    take: @escaping @Sendable (Timestamp) -> [OutgoingNotification],
    settle: @escaping @Sendable (Int, Int?, Timestamp) -> Void,
    post: @escaping @Sendable (Data) async -> Int?
  ) {
    self.take = take
    self.settle = settle
    self.post = post
  }

  /// A poster for the store of a world.
  public init(_ world: WorldServer, post: @escaping @Sendable (Data) async -> Int?) {
    self.init(
      take: { now in world.withStore { $0.takeNotifications(now: now) } },
      settle: { id, status, now in world.withStore { $0.settleNotification(id: id, status: status, now: now) }
      },
      post: post)
  }

  /// Posts everything that is due, one after the other; the number of posts.
  @discardableResult
  public func postDue(now: Timestamp) async -> Int {
    let due = take(now)
    for notification in due {
      settle(notification.id, await post(Data(notification.body.utf8)), now)
    }
    return due.count
  }
}
