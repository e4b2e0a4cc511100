import LoopbackHTTP

/// A call of the server's `onRequest`: the request and its phase.
public struct RequestMoment: Sendable, Hashable {
  /// Before or after the handler.
  public enum Phase: String, Sendable, Hashable {
    /// The request was read, and nothing is committed yet. Called for every well-formed request.
    case beforeHandling
    /// The request's changes are committed, and nothing of the answer is sent yet. Not called for a request whose fault
    /// keeps it from the handler.
    case afterHandling
  }

  /// How many requests reached this phase so far, this one included: the first is 1. Without faults and
  /// overlapping requests a request has the same ordinal in both phases.
  public var ordinal: Int
  /// The method.
  public var method: String
  /// The decoded path without the query.
  public var path: String
  /// Before or after the handler.
  public var phase: Phase
  /// The answer's status; nil before handling.
  public var status: Int?
  /// The name of its fault in `FaultPlan`; nil without one, and after handling.
  public var fault: String?
  /// What the client calls the request, in the header field ``nameField``; nil without it.
  package var name: String?
  /// The body of the answer if its status is 200; before handling, that of a planned answer.
  package var answer: [UInt8]?

  /// A header field that the backend does not read: the name of a request in the trace of a run.
  package static let nameField = "Trace-Name"
}

extension RequestMoment {
  init(_ request: HTTPRequest, ordinal: Int, phase: Phase, answer: HTTPResponse? = nil, fault: Fault? = nil) {
    var answered = answer
    if case .respond(let response)? = fault { answered = response }
    self.init(
      ordinal: ordinal, method: request.method, path: request.path, phase: phase, status: answer?.status,
      fault: fault.map { fault in
        if case .respond(let response) = fault { return "respond \(response.status)" }
        return fault.word.rawValue
      }, name: request.headers[Self.nameField], answer: answered?.status == 200 ? answered?.body : nil)
  }
}
