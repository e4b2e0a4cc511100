import Foundation
import PurchaseQueue

/// The process that is killed: it records events, prints the identifier of each durable one, and sends them.
struct App {
  let directory: String
  /// A word that makes the identifiers of this launch unique; `last` sends what is left and ends.
  let launch: String

  func run() async throws {
    let queue = try await DurableQueue.open(path: directory + "/outbox.sqlite")
    let outbox = Outbox(queue: queue, backoff: Backoff(base: .milliseconds(1), ceiling: .milliseconds(20)))
    let receiver = Receiver(path: directory + "/received")
    guard launch != "last" else {
      receiver.isReliable = true
      while try await queue.read({ try $0.count() }) > 0 {
        for await delivery in queue.deliveries(endsWhenIdle: true) {
          for payload in delivery.payloads { try receiver.take(payload.bytes, delivery.entry.key.rawValue) }
          try await delivery.acknowledge()
        }
        await Task.yield()
      }
      return try await queue.close()
    }
    try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask { await outbox.run { try receiver.take($0, $1) } }
      var number = 1
      while true {
        let id = "\(launch)-\(number)"
        do {
          try await outbox.record(Array("event \(id)".utf8), id: id)
          FileHandle.standardOutput.write(Data("\(id)\n".utf8))
          number += 1
        } catch QueueError.queueFull {
          // Events come faster than the receiver takes them. This one is recorded when one has been sent.
          await Task.yield()
        }
      }
    }
  }
}

/// The other side: one line for each event that it takes. It fails now and then, before or after it has taken one.
final class Receiver: @unchecked Sendable {
  private let path: String
  var isReliable = false

  init(path: String) { self.path = path }

  func take(_ event: [UInt8], _ id: String) throws {
    guard event == Array("event \(id)".utf8) else { throw Failure(description: "\(id) arrived changed") }
    let luck = isReliable ? 2 : Int.random(in: 0..<12)
    if luck == 0 { throw Failure(description: "not reached") }
    let file = open(path, O_WRONLY | O_CREAT | O_APPEND, 0o600)
    let line = Array("\(id)\n".utf8)
    guard file >= 0, write(file, line, line.count) == line.count, close(file) == 0 else {
      throw Failure(description: "the receiver cannot write")
    }
    if luck == 1 { throw Failure(description: "the answer was lost") }
  }
}
