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

  /// The page's first table.
  private func rows() throws -> [Row] {
    let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
      .appendingPathComponent("../../..").standardizedFileURL
    let page = try String(
      contentsOf: root.appendingPathComponent("Sources/PurchaseSync/PurchaseSync.docc/Retries.md"),
      encoding: .utf8)
    let lines = page.split(separator: "\n", omittingEmptySubsequences: false)
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

  @Test func `the policy's numbers in the page are its defaults`() {
    let policy = RetryPolicy()
    #expect(policy.baseMilliseconds == 2_000 && policy.growth == 3 && policy.ceilingMilliseconds == 1_200_000)
    #expect(policy.horizonMilliseconds == 86_400_000 && policy.retryAfterJitterPercent == 20)
    #expect(policy.wakeJitterMilliseconds == 5_000)
    #expect(policy.budgetPerWindow == 80 && policy.budgetBurst == 20)
    #expect(policy.wakeBound == .seconds(51) && policy.deliveryBound == .seconds(1_245))
    #expect(policy.budgetWindowMilliseconds == 3_600_000)
    #expect(policy.paceMilliseconds == 1_000 && policy.pacedSends == 60)
    #expect(policy.poisonRounds == 8)
    #expect(policy.unknownForMilliseconds == 600_000 && policy.quarantineAfterMilliseconds == 86_400_000)
    #expect(policy.unknownTransactionTries == 10 && policy.quarantineRetryMilliseconds == 86_400_000)
  }
}
