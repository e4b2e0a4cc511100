import AppStoreDocuments
import AppStoreReceipts
import Foundation
import Testing

@Suite struct ReceiptStatusTests {
  @Test(
    arguments: [
      (0, .ok), (21000, .configuration), (21001, .unknown), (21002, .retryThenRefuse), (21003, .forged),
      (21004, .configuration), (21005, .retry), (21006, .lapsed), (21007, .askOtherEnvironment(.sandbox)),
      (21008, .askOtherEnvironment(.production)), (21009, .retry), (21010, .refused), (21099, .unknown),
      (21100, .retry), (21199, .retry), (21200, .unknown), (2, .unknown), (-1, .unknown), (Int.max, .unknown),
    ] as [(Int, ReceiptStatus.Action)])
  func `A status gives the next action`(number: Int, action: ReceiptStatus.Action) throws {
    let status = ReceiptStatus(rawValue: number)
    #expect(status.action() == action)
    #expect(status.action(isRetryable: true) == action)
    #expect(status.action(isRetryable: false) == (status.isInternal ? .refused : action))
    #expect(!status.meaning.isEmpty)
    #expect("\(status)".hasPrefix("\(number): "))
    #expect(status.hasReceipt == (number == 0 || number == 21006))
    for text in ["\(number)", "\"\(number)\""] {
      let response = try VerifyReceiptResponse(json: Data(#"{"status":\#(text)}"#.utf8))
      #expect(response.status == status)
      #expect(response.action == action)
    }
  }

  @Test(arguments: ["is_retryable", "is-retryable"])
  func `Both spellings of is_retryable are read, in every form`(name: String) throws {
    for (text, value) in [
      ("true", true), ("false", false), ("1", true), ("0", false), ("\"true\"", true), ("\"false\"", false),
      ("\"1\"", true), ("\"0\"", false),
    ] {
      let json = Data(#"{"status":21100,"\#(name)":\#(text)}"#.utf8)
      let response = try VerifyReceiptResponse(json: json)
      #expect(response.isRetryable == value)
      #expect(response.action == (value ? .retry : .refused))
      #expect(response.unknownFields.isEmpty)
    }
  }

  @Test func `An invalid status is refused, OK counts as 0, and an absent status is unknown`() throws {
    for text in ["{}", "[]", "1.5", "\"x\"", "99999999999999999999"] {
      let error = decodingFailure { _ = try VerifyReceiptResponse(json: Data(#"{"status":\#(text)}"#.utf8)) }
      #expect(error?.location == "status")
    }
    #expect(try VerifyReceiptResponse(json: Data(#"{"status":"OK"}"#.utf8)).status == .ok)
    let absent = try VerifyReceiptResponse(json: Data("{}".utf8))
    #expect(absent.status == nil && absent.action == .unknown && absent.receipt == nil)
  }
}
