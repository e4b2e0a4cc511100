package import PurchaseSQLite

extension QueueFile {
  /// The operation of one caller.
  package typealias Operation = (QueueFile) throws(QueueError) -> Void

  /// Runs the operations of several callers in one commit. Each has the result that it would have had alone: neither
  /// the error of one operation nor a failed commit affects the others.
  ///
  /// If another process writes for too long, no operation runs, and all have the error `busy`.
  package func groupCommit(_ operations: [Operation]) -> [QueueError?] {
    do throws(QueueError) {
      let errors = try exclusively { () throws(QueueError) in try self.commit(operations) }
      runStepsOfGroup()
      return errors
    } catch {
      return operations.map { _ in error }
    }
  }

  /// As `groupCommit`; nil if another process writes now: no operation has run then. Never waits. This file keeps its
  /// place in the line after nil.
  package func groupCommitUnlessBusy(_ operations: [Operation]) -> [QueueError?]? {
    do throws(QueueError) {
      let errors = try withoutWaiting { () throws(QueueError) in
        try self.exclusively { () throws(QueueError) in try self.commit(operations) }
      }
      runStepsOfGroup()
      return errors
    } catch .busy {
      return nil
    } catch {
      return operations.map { _ in error }
    }
  }

  /// Runs the calls of `body` in one commit, or undoes all of them. Inside another group they are a part of its commit,
  /// and an error undoes this part alone.
  package func inOneCommit<R>(
    _ promise: CommitPromise = .durable, _ body: () throws(QueueError) -> R
  ) throws(QueueError) -> R {
    guard !isGrouping else {
      self.promise(promise)
      return try undoable(body)
    }
    let result: R
    do throws(QueueError) {
      result = try transaction(promise) { () throws(QueueError) in
        self.isGrouping = true
        defer { self.isGrouping = false }
        return try body()
      }
    } catch {
      afterGroup = []
      throw error
    }
    runStepsOfGroup()
    return result
  }

  /// Throws if the transaction cannot begin.
  private func commit(_ operations: [Operation]) throws(QueueError) -> [QueueError?] {
    var errors = [QueueError?](repeating: nil, count: operations.count)
    var hasBegun = false
    do throws(QueueError) {
      try transaction { () throws(QueueError) in
        hasBegun = true
        self.isGrouping = true
        defer { self.isGrouping = false }
        for (index, operation) in operations.enumerated() {
          errors[index] = operations.count > 1 ? self.part(operation) : self.alone(operation)
          // A full or failing disk can end the transaction by itself. One caller needs no savepoint.
          if let error = errors[index], operations.count == 1 || !self.connection.isInTransaction {
            throw error
          }
        }
      }
    } catch {
      afterGroup = []
      guard hasBegun else { throw error }
      return operations.count > 1 ? operations.map { alone($0) } : [error]
    }
    return errors
  }

  /// Runs the steps that follow the commit of a group.
  private func runStepsOfGroup() {
    let steps = afterGroup
    afterGroup = []
    for step in steps { step() }
  }

  /// Runs an operation as a part of the group. Its error undoes this part alone.
  private func part(_ operation: Operation) -> QueueError? {
    do throws(QueueError) {
      try undoable { () throws(QueueError) in try operation(self) }
      return nil
    } catch {
      return error
    }
  }

  /// Runs a part of the open commit. Its error undoes this part alone, so the rest can be committed.
  func undoable<R>(_ body: () throws(QueueError) -> R) throws(QueueError) -> R {
    guard connection.isInTransaction else {
      throw .storage(path: path, reason: "an earlier call of this commit failed and undid it. Call again")
    }
    let steps = afterGroup.count
    let changes = uncommitted.count
    do throws(QueueError) {
      return try connection.part(failing: { QueueError($0, path: self.path) }, body)
    } catch {
      statements.capacity.cache.forget()
      afterGroup.removeLast(afterGroup.count - steps)
      uncommitted.removeLast(max(0, uncommitted.count - changes))
      throw error
    }
  }

  /// Undoes `body` alone if it throws while a group is open: the group may go on. Without a group, the commits of
  /// `body` do that by themselves.
  package func undoableInGroup<R>(_ body: () throws(QueueError) -> R) throws(QueueError) -> R {
    if isGrouping { try undoable(body) } else { try body() }
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
