import PurchaseSyncTesting

/// A call in a history of calls that overlap.
///
/// Moments are counts: each call and each answer of a history has a moment of its own.
package struct HistoryCall<Model: SequentialModel>: Sendable {
  package var client: Int
  package var input: Model.Input
  /// Nil if no answer came: it took effect at any time after its begin, or never.
  package var output: Model.Output?
  package var beganAt: Int
  /// Without meaning if no answer came.
  package var answeredAt: Int

  package init(
    client: Int, input: Model.Input, output: Model.Output?, beganAt: Int, answeredAt: Int = .max
  ) {
    (self.client, self.input, self.output) = (client, input, output)
    (self.beganAt, self.answeredAt) = (beganAt, output == nil ? .max : answeredAt)
  }

  /// The same call, as if no answer had come.
  var unanswered: HistoryCall {
    HistoryCall(client: client, input: input, output: nil, beganAt: beganAt)
  }
}

/// What an object does if its calls come one after the other.
package protocol SequentialModel: Sendable {
  associatedtype Input: Hashable, Sendable
  associatedtype Output: Hashable, Sendable
  associatedtype State: Hashable, Sendable

  static var initial: State { get }

  /// The state after a call. Nil if it cannot have this answer in this state. An answer of nil is any answer.
  static func step(_ state: State, _ input: Input, _ output: Output?) -> State?

  /// One line for a report.
  static func words(_ input: Input, _ output: Output?) -> String
}
