/// The numbers of repetitions and operations.
struct BenchPlan: Equatable {
  /// Each repetition runs every subject once, one after the other.
  var repetitions: Int
  /// Enqueues, and then acknowledgements, of one run. Enough for several checkpoints of each subject.
  var operations: Int
  /// Enqueue-and-acknowledge cycles after which the file must not have grown.
  var cycles: Int
  /// How often the short and the long queue take turns.
  var rounds: Int

  /// The length at which every subject works.
  static let length = 50
  static let longLength = 10_000
  static let payloadBytes = 8 << 10
  /// Under strace: enough that the checkpoint at the end of the process does not matter.
  static let tracedOperations = 1_000
  /// The same with a vault, which holds 8 MiB.
  static let mirroredOperations = 500

  static let full = BenchPlan(repetitions: 15, operations: 1_000, cycles: 100_000, rounds: 60)
  static let quick = BenchPlan(repetitions: 3, operations: 500, cycles: 20_000, rounds: 20)
}
