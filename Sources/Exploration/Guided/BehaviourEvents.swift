/// What happens to an entry on a phone. The detail is in the first part of the state.
enum EntryEvent: UInt8, CaseIterable {
  case arrivesSigned = 1
  case arrivesByReceipt, isNotTaken, isRestored, isSent, leaseDenied, verdictHeard,
    failureHeard
  case finishBegins, finishEnds, isConfirmed, isTold, dies, launches, storageFails, faultEnds, heals, acts,
    actsToo, isNamed
  case adoptionSent, adoptionEnds, proofFound, timerFires
}

/// What happens to a transaction in the store.
enum TransactionEvent: UInt8, CaseIterable {
  case isCharged = 1
  case isDelivered, isNamed, isAsked, finishEnds, finishedByBackend, isHandedAnew
}

/// What happens to a line of the ledger, or to the place where it would be.
enum LineEvent: UInt8, CaseIterable {
  case isClaimed = 1
  case isAsked, isRestored, isAdopted
}
