import PurchaseSQLite

extension QueueFile {
  /// The operation of one caller.
  package typealias Operation = (QueueFile) throws(QueueError) -> Void

  /// Runs the operations of several callers in one commit. Each has the result that it would have had alone: neither
  /// the error of one operation nor a failed commit affects the others.
  package func groupCommit(_ operations: [Operation]) -> [QueueError?] {
    guard operations.count > 1 else { return operations.map { alone($0) } }
    var errors = [QueueError?](repeating: nil, count: operations.count)
    do throws(QueueError) {
      try transaction { () throws(QueueError) in
        self.isGrouping = true
        defer { self.isGrouping = false }
        for (index, operation) in operations.enumerated() {
          let before = self.connection.totalChanges
          errors[index] = self.alone(operation)
          // An operation that failed before it changed anything leaves the others in the group. Otherwise the group
          // is undone and each operation runs alone. A full or failing disk can end the transaction by itself.
          if let error = errors[index],
            self.connection.totalChanges != before || !self.connection.isInTransaction
          {
            throw error
          }
        }
      }
    } catch {
      afterGroup = []
      return operations.map { alone($0) }
    }
    let steps = afterGroup
    afterGroup = []
    for step in steps { step() }
    return errors
  }

  private func alone(_ operation: Operation) -> QueueError? {
    do throws(QueueError) {
      try operation(self)
      return nil
    } catch {
      return error
    }
  }

  /// Runs a step that follows a commit: at once, or after the commit of the group.
  func afterCommit(_ step: @escaping () -> Void) {
    if isGrouping { afterGroup.append(step) } else { step() }
  }
}
