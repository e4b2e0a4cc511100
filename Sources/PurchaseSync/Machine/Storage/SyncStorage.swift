/// Everything that the machine needs of the queue's file: the roles of `StorageRoles.swift` together.
///
/// A call that returns is durable. A call that throws has changed nothing. `StorageContractTests` states what an
/// implementation keeps; the real file (`SyncFile`) and the one in memory (`MemoryStorage`) pass it.
package protocol SyncStorage: TransactionStorage, LaneStorage, AttemptStorage, QuarantineStorage,
  SettlementStorage, OwedUpdateStorage, AdoptionStorage
{}
