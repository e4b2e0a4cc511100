import AppStoreReceipts
import Foundation
import Testing

@testable import purchase_simulator

/// What `conformance` shows of bodies: no proof, wherever a backend puts it.
struct ConformanceTextTests {
  private static let base64 = String(repeating: "MIIT4gYJKoZIhvcNAQcC", count: 20)
  private static let jws =
    "eyJhbGciOiJFUzI1NiJ9." + String(repeating: "eyJ0cmFuc2Fj", count: 20) + ".c2ln_-bmF0dXJl"
  private static let wrapped =
    String(repeating: "MIIT4gYJKoZIhvcNAQcCoIIT0zCCE88CAQExCzAJBgUrDgMCGgUAMIID/+==\n", count: 5) + "QUJDRA=="

  @Test(arguments: [
    #"{"echo":"BASE64"}"#, #"{"detail":"invalid proof JWS, sorry"}"#, #"{"errors":[["JWS"]]}"#,
    "<html>BASE64</html>",
    "proof=JWS&x=1", "BASE64", #"{"broken": "JWS"#, #"{"nested":"{\"data\":\"JWS\"}"}"#, "WRAPPED",
    #"{"lines":"WRAPPED"}"#,
  ])
  func `a proof is shown by its size in any place`(body: String) {
    var text = body.replacing("BASE64", with: Self.base64).replacing("JWS", with: Self.jws)
    let isJSON = body.contains("lines")
    text = text.replacing("WRAPPED", with: isJSON ? Self.wrapped.replacing("\n", with: "\\n") : Self.wrapped)
    let data = Data(text.utf8)
    let shown = ConformanceText.shortened(data, try? JSONValue(json: data), without: [])
    #expect(
      !shown.contains("MIIT4gYJ") && !shown.contains("eyJ0cmFuc2Fj") && !shown.contains("QUJDRA"), "\(shown)")
    #expect(shown.contains("bytes"))
  }

  @Test func `ids, orders and sentences are shown as they are`() throws {
    let json = """
      {"detail":"there is no such order","orderNumber":"device-2B86A48E-442D-4FA1-8CE9-E2062053C22E",\
      "transactionID":"2000000000000001","url":"http://127.0.0.1:8080/v1/orders"}
      """
    let data = Data(json.utf8)
    #expect(
      ConformanceText.shortened(data, try JSONValue(json: data), without: []).replacing("\\/", with: "/")
        == json)
  }
}
