package import PurchaseQueue
package import PurchaseSync

/// The engine's rule: the values that apps run (`RetryPolicy`, `LaneBackoff`, `RetryState`), unchanged. Between two events
/// of a device they are packed, because a million of them have to fit into memory.
package struct EnginePolicy: FleetPolicy {
  package var policy: RetryPolicy

  package init(_ policy: RetryPolicy = RetryPolicy()) { self.policy = policy }

  package var fresh: EngineState { EngineState() }

  package func purchased(_ state: inout EngineState, now: Int64, using random: inout RandomSource) -> Int64 {
    wake(&state, isTap: true, now, &random)
  }

  package func opened(
    _ state: inout EngineState, due: Int64?, now: Int64, using random: inout RandomSource
  ) -> Int64? { wake(&state, isTap: false, now, &random) }

  package func tapped(
    _ state: inout EngineState, due: Int64?, now: Int64, using random: inout RandomSource
  ) -> Int64? { wake(&state, isTap: true, now, &random) }

  private func wake(
    _ state: inout EngineState, isTap: Bool, _ now: Int64, _ random: inout RandomSource
  ) -> Int64 {
    let moment = EngineState.timestamp(now)
    var lane = state.lane
    lane.woken(isTap: isTap, now: moment, policy: policy, using: &random)
    state.keep(lane)
    if isTap { state.isForPerson = true }
    return next(state, moment)
  }

  package func admit(_ state: inout EngineState, now: Int64, using random: inout RandomSource) -> FleetNext? {
    let moment = EngineState.timestamp(now)
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
    return .at(next(state, moment))
  }

  package func succeeded(_ state: inout EngineState, now: Int64) -> Int64? {
    var (lane, retry) = (state.lane, state.retry)
    lane.succeeded()
    retry.pace.succeeded(now: EngineState.timestamp(now), policy: policy)
    state.keep(lane)
    state.keep(retry)
    return nil
  }

  /// When the lane and the backend's pace both allow a request; the budget is asked then. Without an answer, and while the
  /// backend is busy, no entry fails by itself: none is postponed.
  private func next(_ state: EngineState, _ now: Timestamp) -> Int64 {
    EngineState.milliseconds(
      max(state.lane.opensAt(now: now), state.retry.pace.opensAt(now: now, policy: policy)))
  }
}
