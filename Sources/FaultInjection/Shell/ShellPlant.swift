/// A bug of the kind that only a real, asynchronous shell can have, planted around the engine: in its transport, its
/// store, its sleep, its hook or its app. `explore --shell --plant` has to find each.
package enum ShellPlant: String, CaseIterable, Sendable {
  // MARK: Sleep and threads
  case timerNeverRings, sleepIgnoresCancellation, workIsLost
  // MARK: The transport
  case sentTwice, retryAfterSwallowed, answeredFromCache, finishBeforeTheReply
  // MARK: The lease
  case leaseFreedEarly, leaseKept
  // MARK: The app around the engine
  case wrongAccountAfterAwait, finishInADefer, outcomeToldEarly, confirmedForTheApp, streamNeverEnds

  /// The story behind it.
  package var summary: String {
    switch self {
    case .timerNeverRings: "a timer that replaces another one is lost: nobody wakes the lane"
    case .sleepIgnoresCancellation: "a sleep goes on when its task is cancelled"
    case .workIsLost: "work that is handed to another thread is dropped now and then"
    case .sentTwice: "the transport sends a second request when the first one is slow"
    case .retryAfterSwallowed: "a wrapper of the transport drops Retry-After"
    case .answeredFromCache: "a cache answers an upload with the answer to an earlier one"
    case .finishBeforeTheReply: "the transaction is finished while its upload is out: nobody awaits the reply"
    case .leaseFreedEarly: "a lane's lock is removed when its upload is sent, before the reply"
    case .leaseKept: "a lane's lock is taken again when its reply is here, and forgotten"
    case .wrongAccountAfterAwait: "the account is read after a wait, when somebody else has signed in"
    case .finishInADefer: "the app finishes what it handed over, whatever came of it"
    case .outcomeToldEarly: "the app is told by the answer, not by what was committed of it"
    case .confirmedForTheApp: "an outcome is confirmed when it is told, not when the app has seen it"
    case .streamNeverEnds: "the app's copy of the event stream is never ended"
    }
  }
}
