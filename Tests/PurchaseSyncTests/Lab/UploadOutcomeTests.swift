import Foundation
import PurchaseQueue
import Testing

@testable import PurchaseSync

/// The outcome of single answers, with bad input of every kind.
@Suite struct UploadOutcomeTests {
  private let noon = Timestamp(milliseconds: 784_111_777_000)  // Sun, 06 Nov 1994 08:49:37 GMT.
  private let lane = Lane.account("alice")

  private func outcome(
    _ status: Int, _ body: String = "", type: String? = "application/json", retryAfter: String? = nil,
    date: String? = nil, lane: Lane? = nil
  ) -> UploadClassification {
    let response = BackendResponse(
      status: status, retryAfter: retryAfter, date: date, contentType: type, body: Data(body.utf8))
    return UploadClassification(.success(response), lane: lane ?? self.lane, now: noon)
  }

  private let reply = """
    {"ledgerEpoch":"e1","verdicts":[{"environment":"Production","transactionID":"1","verdict":"granted"}],"new":1}
    """

  @Test(arguments: [nil, "application/json", "Application/JSON; charset=utf-8", "application/vnd.shop+json"])
  func `a reply is read with every JSON content type`(type: String?) {
    let verdict = ClaimVerdict(environment: "Production", transactionID: "1", verdict: .granted)
    #expect(outcome(200, reply, type: type) == .verdicts(UploadReply(ledgerEpoch: "e1", verdicts: [verdict])))
  }

  @Test(arguments: [
    "", "{", "[]", "null", "true", "{}", "<html>Welcome to the hotel</html>", "{\"verdicts\":[]}",
    "{\"ledgerEpoch\":\"e1\"}", "{\"ledgerEpoch\":null,\"verdicts\":[]}",
    "{\"ledgerEpoch\":\"\",\"verdicts\":[]}",
    "{\"ledgerEpoch\":\"e1\",\"verdicts\":null}", "{\"ledgerEpoch\":\"e1\",\"verdicts\":{}}",
    "{\"ledgerEpoch\":\"e1\",\"verdicts\":[", "{\"type\":\"auth\",\"title\":\"x\",\"status\":200}",
    String(repeating: "[", count: 10_000),
  ])
  func `a 200 without a reply is retried`(body: String) {
    guard case .failure(.retry(_, nil)) = outcome(200, body) else {
      Issue.record("\(outcome(200, body))")
      return
    }
  }

  @Test(arguments: ["text/html", "text/plain", "application/xml", ";", "json"])
  func `a reply with another content type is refused, and the type is reported`(type: String) {
    guard case .failure(.retry(let reason, nil)) = outcome(200, reply, type: type) else {
      Issue.record("accepted")
      return
    }
    #expect(reason.contains(type))
  }

  @Test func `an unreadable verdict does not affect the others`() {
    let body = """
      {"ledgerEpoch":"e1","verdicts":[null,7,{"environment":"Production"},
       {"environment":"Production","transactionID":2,"verdict":"granted"},
       {"environment":"Production","transactionID":"3","verdict":"granted","orderNumber":7},
       {"environment":"Production","transactionID":"4","verdict":"granted","orderNumber":"9",
        "retryAfter":"soon","storeStatus":1e999,"reason":{}}]}
      """
    let verdict = ClaimVerdict(
      environment: "Production", transactionID: "4", verdict: .granted, orderNumber: "9")
    #expect(outcome(200, body) == .verdicts(UploadReply(ledgerEpoch: "e1", verdicts: [verdict])))
  }

  @Test func `the device lane has no account to sign in`() {
    #expect(outcome(401) == .failure(.tokenRefused))
    guard case .failure(.backendFault) = outcome(401, lane: .device) else {
      Issue.record("the device lane waits for sign-in")
      return
    }
  }

  @Test func `a problem's title is reported in one line, and nothing of another body`() {
    let problem =
      "{\"type\":\"invalid\",\"title\":\"No such\\nproduct\",\"status\":422,\"detail\":\"secret\"}"
    #expect(
      outcome(422, problem, type: "application/problem+json")
        == .failure(.backendFault(reason: "HTTP 422: " + Redaction.line("No such\nproduct"))))
    guard case .failure(.retry(let reason, _)) = outcome(200, "<html>password: hunter2", type: "text/html")
    else {
      Issue.record("not retried")
      return
    }
    #expect(!reason.contains("hunter2"))
  }

  @Test(arguments: [429, 503]) func `a busy backend's Retry-After is read`(status: Int) {
    #expect(
      outcome(status, retryAfter: "60")
        == .failure(.backendBusy(reason: "HTTP \(status)", retryAfterMilliseconds: 60_000)))
    #expect(
      outcome(status, retryAfter: "-1")
        == .failure(.backendBusy(reason: "HTTP \(status)", retryAfterMilliseconds: nil)))
  }

  @Test func `Retry-After of any other status applies to the lane only`() {
    #expect(
      outcome(500, retryAfter: "5")
        == .failure(.requestFailed(reason: "HTTP 500", retryAfterMilliseconds: 5_000)))
    #expect(
      outcome(502, retryAfter: "5") == .failure(.retry(reason: "HTTP 502", retryAfterMilliseconds: 5_000)))
  }

  @Test(arguments: [
    (TransportError.Kind.noAnswer, "retry"), (.timedOut, "retry"), (.tooLong, "retry"),
    (.unsendable, "backendFault"), (.cancelled, "interrupted"),
    (TransportError.Kind(rawValue: "new"), "retry"),
  ])
  func `without an answer there are no verdicts`(kind: TransportError.Kind, name: String) {
    let result = UploadClassification(
      .failure(TransportError(kind, reason: "r")), lane: lane, now: noon)
    #expect(result.name == name)
  }
}

/// `Retry-After` in the forms of real backends.
@Suite struct RetryAfterTests {
  /// Sun, 06 Nov 1994 08:49:37 GMT.
  private let moment = Timestamp(milliseconds: 784_111_777_000)

  @Test(
    arguments: [
      ("0", 0), ("7", 7_000), (" 7 ", 7_000), ("00120", 120_000), ("31536000", 31_536_000_000),
      ("99999999999999999999999", .max), ("9223372036854775807", .max), ("-1", nil), ("+5", nil),
      ("1.5", nil),
      ("", nil), (" ", nil), ("soon", nil), ("7 s", nil), ("7, 7", nil), ("\u{FF17}", nil),
      ("1e3", nil), ("0x10", nil), (String(repeating: "x", count: 100_000), nil),
    ] as [(String, Int64?)])
  func `seconds are digits only`(header: String, expected: Int64?) {
    #expect(RetryAfterField.milliseconds(header, date: nil, now: moment) == expected)
  }

  @Test(arguments: [
    "Sun, 06 Nov 1994 08:50:37 GMT", "Sunday, 06-Nov-94 08:50:37 GMT", "Sun Nov  6 08:50:37 1994",
  ])
  func `a date in each of the three forms is compared with the answer's date, otherwise with the clock`(
    header: String
  ) {
    #expect(RetryAfterField.milliseconds(header, date: nil, now: moment) == 60_000)
    for date in [
      "Sun, 06 Nov 1994 08:49:37 GMT", "Sunday, 06-Nov-94 08:49:37 GMT", "Sun Nov  6 08:49:37 1994",
    ] {
      // The device's clock is three years off.
      let wrong = Timestamp(milliseconds: moment.milliseconds + 94_608_000_000)
      #expect(RetryAfterField.milliseconds(header, date: date, now: wrong) == 60_000)
    }
    #expect(RetryAfterField.milliseconds(header, date: "yesterday", now: moment) == 60_000)
  }

  @Test func `a past date is no wait`() {
    #expect(RetryAfterField.milliseconds("Sun, 06 Nov 1994 08:49:36 GMT", date: nil, now: moment) == 0)
    #expect(RetryAfterField.milliseconds("Mon, 01 Jan 0001 00:00:00 GMT", date: nil, now: moment) == 0)
  }

  @Test(arguments: [
    "Sun, 06 Nov 1994 08:49:37 PST", "Sun, 06 Nov 1994 08:49:37", "Sun, 31 Feb 1994 08:49:37 GMT",
    "Sun, 29 Feb 1900 08:49:37 GMT", "Sun, 06 Nov 94 08:49:37 GMT", "Sun, 06 Now 1994 08:49:37 GMT",
    "Sun, 06 Nov 1994 24:00:00 GMT", "Sun, 06 Nov 1994 08:60:00 GMT", "Sun, 06 Nov 1994 8:49 GMT",
    "Sun, 00 Nov 1994 08:49:37 GMT", "Sun, 06 Nov 99999 08:49:37 GMT", "Sun, -6 Nov 1994 08:49:37 GMT",
    "Sunday, 06-Nov-1994 08:49:37 GMT", "1994-11-06T08:49:37Z", "Sun, 06 Nov 1994 08:49:37 GMT GMT",
  ])
  func `text that is no date asks for no wait`(header: String) {
    #expect(RetryAfterField.milliseconds(header, date: nil, now: moment) == nil)
  }

  @Test func `a year of two digits is within 50 years`() throws {
    let parsed = { (text: String, now: Int64) in
      HTTPDate.parse(text, now: Timestamp(milliseconds: now))?.utc
    }
    #expect(parsed("Sunday, 06-Nov-94 08:49:37 GMT", 1_700_000_000_000) == "1994-11-06T08:49:37Z")
    #expect(parsed("Sunday, 06-Nov-30 08:49:37 GMT", 1_700_000_000_000) == "2030-11-06T08:49:37Z")
    #expect(parsed("Sunday, 06-Nov-30 08:49:37 GMT", .max) != nil)
    #expect(parsed("Sunday, 06-Nov-30 08:49:37 GMT", .min) != nil)
  }

  @Test func `every day of four centuries has its number`() throws {
    let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
    for day in stride(from: Int64(-100_000), to: 150_000, by: 97) {
      let moment = Timestamp(milliseconds: day * 86_400_000 + 86_399_000)
      // For example 1994-11-06T23:59:59Z, by the algorithm of `Timestamp`.
      let parts = moment.utc.prefix { $0 != "T" }.split(separator: "-")
      let month = months[try #require(Int(parts[1])) - 1]
      let text = "Sun, \(parts[2]) \(month) \(parts[0]) 23:59:59 GMT"
      #expect(HTTPDate.parse(text, now: moment) == moment, "\(text)")
    }
  }

  @Test(
    arguments: [
      (0, 0), (1.5, 1_500), (-1, nil), (.nan, nil), (.infinity, 9_007_199_254_740_992), (-.infinity, nil),
      (1e300, 9_007_199_254_740_992), (-0.0, 0), (31_536_000, 31_536_000_000),
    ] as [(Double, Int64?)])
  func `a verdict's seconds are any number`(seconds: Double, expected: Int64?) {
    #expect(RetryAfterField.milliseconds(seconds: seconds) == expected)
  }
}

extension UploadClassification {
  /// The word in the documentation's table.
  var name: String {
    switch self {
    case .verdicts: "verdicts"
    case .failure(.retry): "retry"
    case .failure(.requestFailed): "requestFailed"
    case .failure(.backendBusy): "backendBusy"
    case .failure(.backendFault): "backendFault"
    case .failure(.signInNeeded): "signInNeeded"
    case .failure(.tokenRefused): "tokenRefused"
    case .failure(.otherProtocol): "otherProtocol"
    case .failure(.proofMissing): "proofMissing"
    case .failure(.laneTaken): "laneTaken"
    case .failure(.unprepared): "unprepared"
    case .failure(.accountRefused): "accountRefused"
    case .failure(.interrupted): "interrupted"
    case .failure(.unreadable): "unreadable"
    }
  }
}
