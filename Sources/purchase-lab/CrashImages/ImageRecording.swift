import FaultInjection
import PurchaseQueue
import PurchaseSQLite
import PurchaseSync

/// A workload that was run on a disk that keeps a log.
struct ImageRecording {
  let site: ImageSite
  let start: DiskImage
  let log: [DiskOperation]
  /// Where the last operation begins in the log.
  let begin: Int
  /// The state before: it distinguishes a lost commit from a state that never existed.
  let earlier: Set<LogicalState>

  init(_ workload: ImageWorkload, _ discipline: ImageDiscipline, seed: UInt64) throws {
    var earlier: Set<LogicalState> = []
    func note(_ file: SyncFile) throws(QueueError) { earlier.insert(try LogicalState(of: file)) }
    let (site, start) = try ImagePreparation.site(
      for: workload.kinds[0], discipline: discipline, seed: seed, committed: note)
    site.committed = note
    for kind in workload.kinds.dropLast() { try site.run(kind) }
    self.earlier = earlier
    begin = site.disk.log.count
    site.committed = nil
    if let last = workload.kinds.last { try site.run(last) }
    log = site.disk.log
    self.start = start
    self.site = site
    // The writes of closing are not part of the recording.
    site.file?.queue.connection.leaveUntouchedOnClose()
    site.close()
  }
}
