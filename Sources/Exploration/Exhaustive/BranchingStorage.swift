package import PurchaseQueue
package import PurchaseSync

/// A storage of which a search makes a copy for each way on.
package protocol BranchingStorage: SyncStorage {
  func branch() -> any BranchingStorage
  /// Adds an order to the journal.
  func add(_ order: OrderDocument, account: String)
  var allEntries: [Entry] { get }
  var allTombstones: [Tombstone] { get }
}

package typealias BranchingStorageMaker = (QueueLimits) -> any BranchingStorage
