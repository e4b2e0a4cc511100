import Foundation
import PurchaseQueue
import PurchaseSQLite
import PurchaseSync
import PurchaseSyncTesting

/// Many concurrent connections, each with its own thread and its share of the requests.
struct ServeLoad {
  var port: UInt16
  var connections = 50

  struct Result {
    var samples: Samples
    var seconds: Double

    var perSecond: Double { Double(samples.nanoseconds.count) / seconds }

    func milliseconds(percentile: Double) throws -> Double { try samples.percentile(percentile) / 1e6 }
  }

  /// Sends every request once; each has to be answered with this status.
  func run(_ requests: [[UInt8]], status: Int) throws -> Result {
    let outcomes = Locked<[Swift.Result<Samples, BenchError>]>([])
    let share = (requests.count + connections - 1) / connections
    let clock = ContinuousClock()
    let begin = clock.now
    let group = DispatchGroup()
    for index in 0..<connections {
      let own = Array(requests.dropFirst(index * share).prefix(share))
      group.enter()
      let port = port
      let thread = Thread {
        let result = Self.work(own, port, status)
        outcomes.withLock { $0.append(result) }
        group.leave()
      }
      thread.stackSize = 1 << 20
      thread.start()
    }
    group.wait()
    let seconds = Double((clock.now - begin).wholeNanoseconds) / 1e9
    let samples = try outcomes.value.reduce(into: Samples()) { $0.nanoseconds += try $1.get().nanoseconds }
    return Result(samples: samples, seconds: seconds)
  }

  private static func work(
    _ requests: [[UInt8]], _ port: UInt16, _ status: Int
  ) -> Swift.Result<Samples, BenchError> {
    Swift.Result { () throws(BenchError) in
      let connection = try KeptConnection(port: port)
      let clock = ContinuousClock()
      var samples = Samples()
      for request in requests {
        let begin = clock.now
        let answer = try connection.ask(request)
        samples.nanoseconds.append((clock.now - begin).wholeNanoseconds)
        guard answer.status == status else {
          throw .uploadFailed("status \(answer.status): \(String(decoding: answer.body, as: UTF8.self))")
        }
      }
      return samples
    }
  }
}
