package import PurchaseQueue
package import PurchaseSync

/// The engine's rule: the values that apps run (`RetryPolicy`, `LaneBackoff`, `RetryState`), unchanged. Between two events
/// of a device they are packed, because a million of them have to fit into memory.
package struct EnginePolicy: FleetPolicy {
  package var policy: RetryPolicy

  package init(_ policy: RetryPolicy = RetryPolicy()) { self.policy = policy }

  package var fresh: EngineState { EngineState() }

  package func purchased(_ state: inout EngineState, now: Int64, using random: inout RandomSource) -> Int64 {
    let moment = EngineState.timestamp(now)
    if state.hasHead {
      state.hasBehind = true
    } else {
      state.hasHead = true
      state.keep(PoisonWatch())
      state.ready = EngineState.timestamp(0)
    }
    var lane = state.lane
    lane.woken(now: moment, policy: policy, using: &random)
    state.keep(lane)
    state.isForPerson = true
    return next(state, moment)
  }

  package func opened(
    _ state: inout EngineState, due: Int64?, now: Int64, using random: inout RandomSource
  ) -> Int64? {
    let moment = EngineState.timestamp(now)
    var lane = state.lane
    lane.woken(now: moment, policy: policy, using: &random)
    state.keep(lane)
    return next(state, moment)
  }

  package func tapped(
    _ state: inout EngineState, due: Int64?, now: Int64, using random: inout RandomSource
  ) -> Int64? {
    state.isForPerson = true
    return opened(&state, due: due, now: now, using: &random)
  }

  package func admit(_ state: inout EngineState, now: Int64, using random: inout RandomSource) -> FleetNext? {
    let moment = EngineState.timestamp(now)
    // An entry that failed often is postponed, and no wake-up brings it nearer.
    guard state.hasBehind || state.ready <= moment else { return .at(EngineState.milliseconds(state.ready)) }
    var retry = state.retry
    switch retry.admit(state.lane, for: state.isForPerson ? .person : .retry, now: moment, policy: policy) {
    case .send:
      state.keep(retry)
      state.isForPerson = false
      return nil
    case .wait(let until): return .at(EngineState.milliseconds(until))
    }
  }

  package func failed(
    _ state: inout EngineState, _ failure: FleetFailure, now: Int64, using random: inout RandomSource
  ) -> FleetNext {
    let moment = EngineState.timestamp(now)
    var (lane, retry) = (state.lane, state.retry)
    // As `RetryLedger.failed` has it for `retry` and `backendBusy`.
    retry.pace.failed(
      retryAfterMilliseconds: failure.retryAfter, now: moment, policy: policy, using: &random)
    lane.failed(now: moment, policy: policy, using: &random)
    state.keep(lane)
    state.keep(retry)
    if state.ready <= moment { judge(&state, moment, &random) }
    return .at(next(state, moment))
  }

  /// As `SyncMachine.failed` has it: the oldest entry counts the round, and is judged if it went alone.
  private func judge(_ state: inout EngineState, _ now: Timestamp, _ random: inout RandomSource) {
    var watch = state.watch
    watch.failed(now: now)
    state.keep(watch)
    guard !state.hasBehind else { return }
    let judged = watch.judge(
      behindSince: nil, othersSucceededAt: state.retry.pace.succeededAt, now: now, policy: policy,
      using: &random)
    switch judged {
    case .keep: break
    case .postponed(let until): state.ready = until
    case .quarantine: state.ready = now.adding(milliseconds: policy.quarantineRetryMilliseconds)
    }
  }

  package func carriesOldest(_ state: EngineState, now: Int64) -> Bool {
    state.ready <= EngineState.timestamp(now)
  }

  package func succeeded(_ state: inout EngineState, now: Int64) -> Int64? {
    let moment = EngineState.timestamp(now)
    var (lane, retry) = (state.lane, state.retry)
    lane.succeeded()
    retry.pace.succeeded(now: moment, policy: policy)
    state.keep(lane)
    state.keep(retry)
    let isLeft = state.ready > moment
    state.hasHead = isLeft
    state.hasBehind = false
    return isLeft ? next(state, moment) : nil
  }

  /// When the lane and the backend's pace both allow a request; the budget is asked then.
  private func next(_ state: EngineState, _ now: Timestamp) -> Int64 {
    let opens = max(
      state.lane.opensAt(now: now, policy: policy), state.retry.pace.opensAt(now: now, policy: policy))
    return EngineState.milliseconds(state.hasBehind ? opens : max(opens, state.ready))
  }
}
