import PurchaseQueue

/// The file of an engine: open with its machine, or closed until the next call.
struct OpenFile {
  struct Pair {
    let file: SyncFile
    var machine: SyncMachine<SyncFile>
  }

  let session: QueueSession
  /// Nil while the file is closed.
  var pair: Pair?
  /// Counts machines: answers to requests of an earlier one are ignored.
  private(set) var generation = 0
  /// Actions that are being performed, and those that came up since.
  var worklist: [(generation: Int, action: SyncAction)] = []

  init(_ session: QueueSession) { self.session = session }

  var isOpen: Bool { pair != nil }
  var file: SyncFile? { pair?.file }

  /// Whether the machine of this generation is the present one.
  func isOpen(as generation: Int) -> Bool { pair != nil && generation == self.generation }

  mutating func open(_ file: SyncFile, _ machine: SyncMachine<SyncFile>) {
    pair = Pair(file: file, machine: machine)
    generation += 1
  }

  mutating func close() {
    pair = nil
    session.drop()
  }
}
