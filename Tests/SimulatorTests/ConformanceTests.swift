import Foundation
import PurchaseQueue
import PurchaseSyncTesting
import Testing

@testable import purchase_simulator

/// The contract, checked against the mock, and against mocks with planted bugs.
@Suite struct ConformanceTests {
  /// The checks that fail, in their order.
  private func failures(_ broken: BrokenBackend?) async throws -> [String] {
    try await Served.world(broken: broken) { _, lab, _ in
      var failed: [String] = []
      for check in ConformanceCheck.all {
        do {
          try await check.run(lab)
        } catch let failure as ConformanceFailure {
          #expect(!failure.expected.isEmpty)
          failed.append(check.name)
        }
      }
      return failed
    }.flatMap { $0 }
  }

  @Test func `the mock keeps its own contract`() async throws {
    let failed = try await failures(nil)
    #expect(failed == [])
  }

  @Test(arguments: [
    (BrokenBackend.doubleGrant, ["upload-again", "parallel-duplicates"]),
    (.bare200, ["upload-granted", "verdict-per-claim"]), (.forgets, ["upload-granted", "upload-again"]),
    (.namesOrders, ["owner-unnamed"]),
    (.ownerUntold, ["owner-on-device", "owner-unnamed", "owner-without-token"]),
    (.creditsSignedIn, ["owner-without-token"]),
  ])
  func `a backend with a planted bug fails the checks of that bug`(
    broken: BrokenBackend, checks: [String]
  ) async throws {
    let failed = try await failures(broken)
    for check in checks { #expect(failed.contains(check), "\(broken.rawValue) passes \(check)") }
    #expect(!failed.contains("order-made"))
    #expect(!failed.contains("auth-missing"))
  }

  @Test func `no random request made from the document is answered with a 5xx`() async throws {
    _ = try await Served.world { _, lab, _ in
      var requests = try RandomRequests(document: OpenAPIDocument.json, seed: 3)
      for _ in 0..<150 {
        let request = requests.next()
        let reply = try await lab.send(
          request.method, request.path, as: request.caller, headers: request.headers, body: request.body)
        #expect(reply.status < 500, "\(request.method) \(request.path)")
      }
    }
  }

  @Test func `the same seed gives the same requests`() throws {
    func some(_ seed: UInt64) throws -> [String] {
      var requests = try RandomRequests(document: OpenAPIDocument.json, seed: seed)
      return (0..<100).map { _ in
        let request = requests.next()
        return "\(request.method) \(request.path) \(request.body.count)"
      }
    }
    #expect(try some(1) == some(1))
    #expect(try some(1) != some(2))
  }

  @Test func `neither proofs nor tokens are in a report`() async throws {
    _ = try await Served.world { _, lab, _ in
      let (order, paid) = try await lab.paidOrder()
      let claim = ConformanceLab.claim(paid, order: order.number)
      _ = try await lab.upload([claim], proof: ConformanceLab.signed(paid))
      let text = await lab.exchanges.map { $0.sent + $0.received }.joined()
      #expect(text.contains(paid.transactionID))
      #expect(!text.contains(paid.jws))
      #expect(!text.contains("token-alice"))
    }
  }

  @Test(arguments: [
    (["--backend", "ftp://x"], "--backend needs a URL such as http://127.0.0.1:8080, not 'ftp://x'"),
    (["--token"], "--token needs a value"),
    (["--tokn", "x"], "conformance has no option '--tokn'; did you mean '--token'?"),
    (["--token", "a", "--other-token", "a"], "--token and --other-token have to be of two accounts"),
    (["--random", "many"], "--random needs a whole number, not 'many'"),
  ])
  func `wrong options are named`(arguments: [String], message: String) {
    #expect(ConformanceOptions.parse(arguments) == .failure(Command.UsageError(message: message)))
  }

  @Test func `a URL without a backend is reported once`() throws {
    // No process listens on port 1.
    let result = try CommandResult(of: ["conformance", "--backend", "http://127.0.0.1:1"])
    #expect(result.status == ExitCode.promiseBroken)
    #expect(result.output.contains("no answer"))
    #expect(result.output.contains("0 of 1 checks passed"))
  }
}
