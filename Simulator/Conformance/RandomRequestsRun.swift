import BackendConformance
import CommandLineTools
import Foundation
import PurchaseSyncTesting

extension ConformanceCommand {
  /// `conformance --random N`: every request is answered, and no answer is a 5xx. It says how many were accepted: requests
  /// that are all refused say little.
  func sendRandomRequests(_ count: Int) async -> Int32 {
    do {
      let (lab, notice) = try await ConformanceLab.reaching(options)
      if let code = await unready(lab) { return code }
      if notice != nil, options.product == nil {
        Terminal.complain("no order will be made: \(ConformanceNeed.product.advice)")
      }
      var requests = try RandomRequests(
        document: OpenAPIDocument.json, seed: options.seed, product: await lab.soldProduct(),
        account: options.accounts?.alice)
      var statuses: [Int: Int] = [:]
      var orders = 0
      for number in 0..<count {
        await lab.begin()
        let request = requests.next()
        let status: Int
        do {
          let reply = try await lab.send(
            request.method, request.path, as: request.caller, headers: request.headers, body: request.body)
          requests.note(reply)
          orders += reply.status == 201 ? 1 : 0
          status = reply.status
        } catch let failure as ConformanceFailure {
          guard let busy = failure.busyStatus else { return await failed(number + 1, lab) }
          status = busy
        }
        statuses[status, default: 0] += 1
        if status >= 500 { return await failed(number + 1, lab) }
      }
      let counts = statuses.sorted { $0.key < $1.key }.map { "\($0.key): \($0.value)" }
      let accepted = statuses.filter { (200..<300).contains($0.key) }.values.reduce(0, +)
      Terminal.line(
        "\(count) random requests, seed \(options.seed), no 5xx; \(accepted * 100 / max(1, count)) % were accepted, "
          + "and made \(orders) orders; " + counts.joined(separator: ", "))
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
