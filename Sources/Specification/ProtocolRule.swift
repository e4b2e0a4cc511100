/// The rules of the protocol. A step that is not allowed breaks one of them.
package enum ProtocolRule: String, Error, CaseIterable {
  case deliversPaid = "the store hands over only what was paid"
  case queuesDelivered =
    "a device queues only what the store has handed to it, or an update of what it has settled"
  case queuesOnce = "a transaction has one entry on a device"
  case sendsAlive = "only a process that lives sends"
  case sendsDurable = "a device sends only entries that are durable"
  case sendsInItsName = "a request is sent in the name of the lane of its entries"
  case oneInFlight = "a lane of a device has one request in flight"
  case receivesSent = "the backend receives only what was sent, and acts only on what it received"
  case creditsPaid = "the backend credits only what is paid and not refunded"
  case creditsClaimed = "a request credits only what it claims"
  case creditsOnce = "a transaction is credited once"
  case creditsOwner =
    "a credit belongs to the owner whom the store's record, the claim's order or the sender names"
  case answersDurable = "a verdict about a credit or a refund follows it"
  case hearsAnswered = "a device receives only answers of the backend"
  case hearsInFlight = "a device believes only the answer to a request that it waits for"
  case settlesQueued = "a device settles only what it has queued"
  case settlesHeard = "an entry leaves only by a settling verdict that the device has received"
  case tellsSettled = "only outcomes that are durable are published"
  case finishesSettled = "a device finishes only what is settled, and durable as such"
  case finishAfterCredit = "the backend finishes only what it has credited"
  case launchKeeps = "a launch finds each entry that was committed and not settled"
  case launchInvents = "a launch finds no entry that was not committed on this device"
}
