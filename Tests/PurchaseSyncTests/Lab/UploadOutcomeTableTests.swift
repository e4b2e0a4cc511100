import Foundation
import PurchaseQueue
import Testing

@testable import PurchaseSync

/// Compares the table of the article *Retries* with the code: every status with every kind of body.
@Suite struct UploadOutcomeTableTests {
  /// A row of the table.
  private struct Row {
    var answer: String
    var body: String
    var outcome: String

    /// The statuses of the row; nil for a row without an answer.
    var statuses: ClosedRange<Int>? {
      let ends = answer.split(separator: "…").compactMap { Int($0) }
      guard let first = ends.first, let last = ends.last else { return nil }
      return first...last
    }
  }

  private func page() throws -> String {
    let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
      .appendingPathComponent("../../..").standardizedFileURL
    return try String(
      contentsOf: root.appendingPathComponent("Sources/PurchaseSync/PurchaseSync.docc/Retries.md"),
      encoding: .utf8)
  }

  /// The page's first table.
  private func rows() throws -> [Row] {
    let lines = try page().split(separator: "\n", omittingEmptySubsequences: false)
    let header = try #require(lines.firstIndex(of: "| answer | body | outcome | then |"))
    return lines[(header + 2)...].prefix { $0.hasPrefix("|") }.map { line in
      let cells = line.split(separator: "|").map { cell in
        cell.trimmingCharacters(in: .whitespaces).replacingOccurrences(of: "`", with: "")
      }
      return Row(answer: cells[0], body: cells[1], outcome: cells[2])
    }
  }

  private static let bodies = [
    "a reply": "{\"ledgerEpoch\":\"e\",\"verdicts\":[]}",
    "auth problem": "{\"type\":\"auth\",\"title\":\"Sign in\",\"status\":403}",
    "account problem": "{\"type\":\"account\",\"title\":\"Another token\",\"status\":403}",
    "device problem": "{\"type\":\"device\",\"title\":\"Another secret\",\"status\":403}",
    "protocol problem": "{\"type\":\"protocol\",\"title\":\"Version 2 only\",\"status\":426}",
    "other": "<html>",
  ]

  private func name(_ result: Result<BackendResponse, TransportError>) -> String {
    UploadClassification(result, lane: .account("alice"), now: Timestamp(milliseconds: 0)).name
  }

  @Test func `the first row that fits a status and a body has its outcome`() throws {
    let rows = try rows()
    for status in 200...599 {
      for (kind, body) in Self.bodies {
        let fitting = rows.first { row in
          row.statuses?.contains(status) == true
            && (row.body == kind || row.body == "any" || row.body == "other")
        }
        let row = try #require(fitting, "\(status) with \(kind) is not in the table")
        let response = BackendResponse(status: status, contentType: "application/json", body: Data(body.utf8))
        #expect(name(.success(response)) == row.outcome, "\(status) with \(kind)")
      }
    }
  }

  @Test func `each row has its own answer, and no answer is missing`() throws {
    let rows = try rows()
    let words = rows.filter { $0.statuses == nil }.map(\.answer)
    #expect(words == ["no answer", "unsendable", "cancelled"])
    let kinds: [String: [TransportError.Kind]] = [
      "no answer": [.noAnswer, .timedOut, .tooLong, .unverified], "unsendable": [.unsendable],
      "cancelled": [.cancelled],
    ]
    for row in rows where row.statuses == nil {
      for kind in try #require(kinds[row.answer]) {
        #expect(name(.failure(TransportError(kind, reason: ""))) == row.outcome, "\(kind)")
      }
    }
    #expect(Set(rows.map(\.outcome)).isSubset(of: Self.outcomes))
    // A number that is no status is also an answer that settles nothing.
    for status in [Int.min, -1, 0, 100, 199, 600, 999, Int.max] {
      #expect(name(.success(BackendResponse(status: status, body: Data()))) == "retry")
    }
  }

  private static let outcomes: Set = [
    "verdicts", "retry", "requestFailed", "backendBusy", "backendFault", "tokenRefused", "otherProtocol",
    "interrupted",
    "accountRefused",
  ]

  @Test func `the page's numbers are the defaults of the policy`() throws {
    let page = try page().replacingOccurrences(of: "\n", with: " ")
    let policy = RetryPolicy()
    let (ceiling, pace) = (policy.ceilingMilliseconds / 60_000, policy.paceMilliseconds / 1_000)
    let each = policy.budgetWindowMilliseconds / Int64(policy.budgetPerWindow) / 1_000
    let inAnHour = policy.budgetBurst + policy.budgetPerWindow
    let late = policy.deliveryBound - .seconds(60 * ceiling)
    for text in [
      "uniform in 0…\(policy.baseMilliseconds / 1_000) s · \(policy.growth)^(n-1)",
      "all of it: \(ceiling * 3 / 4) to \(ceiling) minutes", "plus 0…\(policy.retryAfterJitterPercent) %",
      "within \(policy.wakeJitterMilliseconds / 1_000) s after a failure",
      "at once, \(pace) s after the last failure",
      "\(policy.budgetBurst) at once, then one each \(each) s: at most \(inAnHour) in an hour",
      "the \(policy.pacedSends) requests after an outage", "for \(policy.pacedSends) uploads after",
      "after \(policy.poisonRounds) rounds",
      "after \(policy.unknownTransactionTries), not within \(policy.unknownForMilliseconds / 60_000) minutes",
      "(\(policy.wakeBound.components.seconds) s, and the time of the request)",
      "(\(ceiling) minutes and \(late.components.seconds) s)",
    ] {
      #expect(page.contains(text), "\(text)")
    }
    // A day.
    #expect(policy.horizonMilliseconds == 86_400_000)
    #expect(policy.quarantineAfterMilliseconds == 86_400_000)
    #expect(policy.quarantineRetryMilliseconds == 86_400_000)
  }
}
