import AppStoreDocuments
import AppStoreReceipts
import Foundation
import LoopbackHTTP
import PurchaseQueue
import PurchaseSync
import Testing

@testable import PurchaseSyncTesting

/// `/verifyReceipt` over HTTP, against a store with scripted answers.
struct HTTPReceiptVerifierTests {
  /// Answers `notFound` to questions that are not about a receipt.
  private struct Unused: ReceiptVerifier {
    func answer(to query: VerificationQuery, now: Timestamp) -> StoreAnswer { StoreAnswer(.notFound) }
  }

  /// Two hosts on one port. They know the receipts that are given to them, by their data.
  private final class Hosts: Sendable {
    let server: HTTPServer

    init(
      answers: [String: (StoreEnvironment, JSONValue)], password: String = "s",
      fault: (@Sendable (HTTPRequest) -> Fault?)? = nil
    ) throws {
      let forge = VerifyReceiptForge(bundleID: Sample.bundleID)
      server = HTTPServer(fault: fault) { request in
        func reply(_ value: JSONValue) -> HTTPResponse { HTTPResponse(status: 200, body: Array(value.data)) }
        do throws(ReceiptDecodingError) {
          let body = try VerifyReceiptRequest(json: Data(request.body))
          guard body.password == SharedSecret(password) else { return reply(forge.failure(.wrongSecret)) }
          guard let (environment, answer) = answers[body.receiptData] else {
            return reply(forge.failure(.malformed))
          }
          let host: StoreEnvironment = request.path.hasPrefix("/sandbox") ? .sandbox : .production
          guard host == environment else {
            return reply(forge.failure(host == .production ? .sandboxReceipt : .productionReceipt))
          }
          return reply(answer)
        } catch {
          return reply(forge.failure(.badRequest))
        }
      }
      try server.start()
    }

    deinit { server.stop() }

    func verifier(password: String = "s", timeout: TimeInterval = 60) throws -> HTTPReceiptVerifier {
      let base = "http://127.0.0.1:\(server.port)"
      return HTTPReceiptVerifier(
        production: try #require(URL(string: base + "/production/verifyReceipt")),
        sandbox: try #require(URL(string: base + "/sandbox/verifyReceipt")),
        password: SharedSecret(password), timeout: timeout, others: Unused())
    }
  }

  private static func genuine(_ environment: StoreEnvironment) -> (StoreEnvironment, JSONValue) {
    let record = Sample.record(environment: environment)
    return (
      environment,
      VerifyReceiptForge(bundleID: Sample.bundleID, environment: environment).unified(
        held: [record], requestedAt: Sample.now)
    )
  }

  private static func ask(
    _ verifier: HTTPReceiptVerifier, _ data: String, _ kind: ProofKind = .appReceipt
  ) async -> StoreAnswer {
    // It blocks its thread, which a task must not do.
    await withCheckedContinuation { continuation in
      let thread = Thread {
        continuation.resume(
          returning: verifier.answer(to: .proof(ProofDocument(kind: kind, data: data)), now: Sample.now))
      }
      thread.start()
    }
  }

  @Test func `a receipt is sent to its environment's host, and a wrong secret is a fault of the backend`()
    async throws
  {
    let hosts = try Hosts(answers: ["AAAA": Self.genuine(.production), "BBBB": Self.genuine(.sandbox)])
    let verifier = try hosts.verifier()
    for (data, environment) in [("AAAA", StoreEnvironment.production), ("BBBB", .sandbox)] {
      let answer = await Self.ask(verifier, data)
      #expect(answer.status == .ok && answer.report?.transactions.map(\.environment) == [environment])
    }
    #expect(await Self.ask(verifier, "CCCC").outcome == .doubtful)
    let stranger = try hosts.verifier(password: "other")
    #expect(await Self.ask(stranger, "AAAA") == StoreAnswer(.misconfigured, status: .wrongSecret))
    #expect(await Self.ask(verifier, "a.b.c", .signedTransaction).outcome == .notFound)
  }

  @Test(arguments: [
    Fault.dropBeforeCommit, .reset, .garbage(Array("nonsense".utf8)), .truncate(bytes: 20),
    .respond(HTTPResponse(status: 503)),
  ])
  func `a store that answers badly, or not at all, is unavailable`(fault: Fault) async throws {
    let hosts = try Hosts(answers: ["AAAA": Self.genuine(.production)], fault: { _ in fault })
    #expect(await Self.ask(try hosts.verifier(), "AAAA") == StoreAnswer(.unavailable))
  }

  @Test func `a store that is not there is unavailable`() async throws {
    let hosts = try Hosts(answers: [:])
    let verifier = try hosts.verifier()
    hosts.server.stop()
    #expect(await Self.ask(verifier, "AAAA") == StoreAnswer(.unavailable))
  }

  @Test func `many threads ask at once, each gets its own answer`() async throws {
    var answers: [String: (StoreEnvironment, JSONValue)] = [:]
    for index in 0..<40 {
      answers["\(1000 + index)"] = (
        .production,
        VerifyReceiptForge(bundleID: Sample.bundleID).unified(
          held: [Sample.record("\(1000 + index)")], requestedAt: Sample.now)
      )
    }
    let hosts = try Hosts(answers: answers)
    let verifier = try hosts.verifier()
    await withTaskGroup(of: (String, String?).self) { group in
      for data in answers.keys {
        group.addTask {
          (data, await Self.ask(verifier, data).report?.transactions.first?.transactionID)
        }
      }
      for await (data, id) in group { #expect(data == id) }
    }
  }
}
