import BackendConformance
import CommandLineTools
import Foundation
import PurchaseSyncTesting

extension ConformanceCommand {
  /// `conformance --random N`: every request is answered, and no answer is a 5xx.
  func sendRandomRequests(_ count: Int) async -> Int32 {
    do {
      let lab = try ConformanceLab(options)
      var requests = try RandomRequests(document: OpenAPIDocument.json, seed: options.seed)
      var statuses: [Int: Int] = [:]
      for number in 0..<count {
        await lab.begin()
        let request = requests.next()
        let status: Int
        do {
          status = try await lab.send(
            request.method, request.path, as: request.caller, headers: request.headers, body: request.body
          ).status
        } catch let failure as ConformanceFailure {
          guard let busy = failure.busyStatus else { return await failed(number + 1, lab) }
          status = busy
        }
        statuses[status, default: 0] += 1
        if status >= 500 { return await failed(number + 1, lab) }
      }
      let counts = statuses.sorted { $0.key < $1.key }.map { "\($0.key): \($0.value)" }
      Terminal.line(
        "\(count) random requests, seed \(options.seed), no 5xx; " + counts.joined(separator: ", "))
      return ExitCode.ok
    } catch {
      Terminal.complain("\(error)")
      return ExitCode.internal
    }
  }

  private func failed(_ number: Int, _ lab: ConformanceLab) async -> Int32 {
    Terminal.line("FAIL  random request \(number) of seed \(options.seed)")
    for exchange in await lab.exchanges {
      Terminal.line("      > \(exchange.sent)\n      < \(exchange.received)")
    }
    return ExitCode.promiseBroken
  }
}
