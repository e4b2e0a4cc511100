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
  /// The states before: they distinguish a lost commit from a state that never existed.
  let earlier: Set<LogicalState>
  /// Those of them that a power cut in the last operation may leave: from the last durable commit on.
  let floor: Set<LogicalState>
  /// Whether the last operation has returned with all that it changed durable.
  let isDurable: Bool

  init(_ workload: ImageWorkload, _ discipline: ImageDiscipline, seed: UInt64) throws {
    var states: [LogicalState] = []
    var durable = 0
    func note(_ file: SyncFile) throws(QueueError) {
      states.append(try LogicalState(of: file))
      if !file.queue.hasSoonCommits { durable = states.count - 1 }
    }
    let (site, start) = try ImagePreparation.site(
      for: workload.kinds[0], discipline: discipline, seed: seed, committed: note)
    site.committed = note
    for kind in workload.kinds.dropLast() {
      let before = states.last
      try site.run(kind)
      // What is promised is looked for, whatever the file says.
      if kind.promise == .durable, states.last != before { durable = max(0, states.count - 1) }
    }
    earlier = Set(states)
    floor = Set(states[min(durable, states.count)...])
    begin = site.disk.log.count
    site.committed = nil
    if let last = workload.kinds.last { try site.run(last) }
    isDurable = workload.kinds.last?.promise == .durable || site.file?.queue.hasSoonCommits != true
    log = site.disk.log
    self.start = start
    self.site = site
    // The writes of closing are not part of the recording.
    site.file?.queue.connection.leaveUntouchedOnClose()
    site.close()
  }

  /// Whether the promises allow a power cut to leave this state.
  ///
  /// - Parameters:
  ///   - timeline: The states since the last operation began, as a kill leaves them.
  ///   - isAtEnd: Whether it has returned.
  func mayLeave(_ state: LogicalState, _ timeline: [LogicalState], isAtEnd: Bool) -> Bool {
    if isAtEnd, isDurable, timeline.count > 1 { return state == timeline.last }
    return floor.contains(state) || timeline.contains(state)
  }
}
