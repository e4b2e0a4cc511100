/// Reads sequences of the store that may yield all that they have and never end.
enum EndlessSequence {
  /// What a sequence yields until it ends, or until it has yielded nothing for so long. A reading that is cut off is left
  /// behind, and is not complete; so is that of a cancelled caller.
  static func elements<S: AsyncSequence & Sendable>(
    of sequence: S, quietMilliseconds quiet: Int64,
    patience: @escaping @Sendable (Int64) async throws -> Void = SystemDependencies.live.patience
  ) async -> (elements: [S.Element], isComplete: Bool) where S.Element: Sendable {
    let (events, event) = AsyncStream.makeStream(of: S.Element?.self)
    let reading = Task {
      do {
        for try await element in sequence { event.yield(element) }
        // A cancelled sequence ends early.
        if !Task.isCancelled { event.yield(nil) }
      } catch {
        return event.finish()  // Not complete: the next reading has the rest.
      }
      event.finish()
    }
    defer { reading.cancel() }
    let reader = SharedReader(events)
    var elements: [S.Element] = []
    while true {
      let limit = TimeLimit(milliseconds: quiet, patience: patience)
      guard let next = await limit.answer(of: { await reader.next() }) else { return (elements, false) }
      guard let element = next else { return (elements, true) }
      elements.append(element)
    }
  }

  /// One reader of a stream, in tasks that follow one another.
  private struct SharedReader<Element: Sendable>: Sendable {
    let events: AsyncStream<Element?>
    init(_ events: AsyncStream<Element?>) { self.events = events }
    /// Nil at the end of a stream that was cut off.
    func next() async -> Element?? {
      var iterator = events.makeAsyncIterator()
      return await iterator.next()
    }
  }
}
