import AppStoreDocuments
import AppStoreReceipts
import Foundation
import Testing

/// The three spellings of a date, tested through one field.
@Suite struct DateSpellingTests {
  private func purchaseDate(_ members: String) throws -> Int64? {
    try ReceiptTransaction(JSONValue(json: #"{"transaction_id":"1","product_id":"p",\#(members)}"#))
      .purchaseDate
  }

  @Test(
    arguments: [
      ("2017-03-07 14:21:49 Etc/GMT", 1_488_896_509_000), ("1970-01-01 00:00:00 Etc/GMT", 0),
      ("2017-03-07 06:21:49 America/Los_Angeles", 1_488_896_509_000),
      ("2019-08-14 01:28:54 America/Los_Angeles", 1_565_771_334_000),
      // The hours around both clock changes of 2020: 8 March and 1 November.
      ("2020-03-08 01:59:59 America/Los_Angeles", 1_583_661_599_000),
      ("2020-03-08 03:00:00 America/Los_Angeles", 1_583_661_600_000),
      ("2020-11-01 00:59:59 America/Los_Angeles", 1_604_217_599_000),
      ("2020-11-01 02:00:00 America/Los_Angeles", 1_604_224_800_000),
      ("2024-02-29T12:00:00Z", 1_709_208_000_000), ("2013-08-01T07:00:00.304Z", 1_375_340_400_304),
      ("2020-07-22T18:33:15+0100", 1_595_439_195_000), ("2020-07-22T18:33:15-01:30", 1_595_448_195_000),
      ("0001-01-01T00:00:00Z", -62_135_596_800_000), ("9999-12-31 23:59:59 Etc/GMT", 253_402_300_799_000),
      ("2000-02-29 00:00:00 Etc/GMT", 951_782_400_000), ("4001-01-01T00:00:00Z", 64_092_211_200_000),
      ("1488896509123", 1_488_896_509_123), ("-1", -1),
    ] as [(String, Int64)])
  func `A date text is read`(text: String, milliseconds: Int64) throws {
    for name in ["purchase_date", "purchase_date_ms", "purchase_date_pst"] {
      #expect(try purchaseDate(#""\#(name)":"\#(text)""#) == milliseconds)
    }
  }

  @Test(arguments: [
    "2017-03-07 14:21:49", "2017-03-07 14:21:49 Europe/Berlin", "2017-3-07 14:21:49 Etc/GMT", "2017-03-07",
    "2017-13-07 14:21:49 Etc/GMT", "2017-02-29 14:21:49 Etc/GMT", "2017-04-31 14:21:49 Etc/GMT",
    "2017-03-00 14:21:49 Etc/GMT", "2017-03-07 24:21:49 Etc/GMT", "2017-03-07 14:60:49 Etc/GMT", "soon", " ",
    "２０17-03-07 14:21:49 Etc/GMT", "2017-03-07T14:21:49+1", "2017-03-07T14:21:49+0100x", "1e999", "\\u0000",
    "2017-03-07T14:21:49+9900", "99999999999999999999", "1900-02-29 00:00:00 Etc/GMT",
  ])
  func `Another text is refused, and named`(text: String) {
    let error = decodingFailure { _ = try purchaseDate(#""purchase_date":"\#(text)""#) }
    #expect(error?.location == "purchase_date")
  }

  @Test func `Milliseconds come first, then GMT, then Los Angeles`() throws {
    let pst = #""purchase_date_pst":"1970-01-01 00:00:00 America/Los_Angeles""#
    let gmt = #""purchase_date":"1970-01-01 00:00:02 Etc/GMT""#
    #expect(try purchaseDate(#"\#(pst),\#(gmt),"purchase_date_ms":"1234""#) == 1_234)
    #expect(try purchaseDate(#"\#(pst),\#(gmt),"purchase_date_ms":1234"#) == 1_234)
    #expect(try purchaseDate(#"\#(pst),\#(gmt),"purchase_date_ms":"""#) == 2_000)
    #expect(try purchaseDate(#"\#(pst),\#(gmt),"purchase_date_ms":null"#) == 2_000)
    #expect(try purchaseDate(#"\#(pst),\#(gmt),"purchase_date_ms":"x""#) == 2_000)
    #expect(try purchaseDate(pst) == 28_800_000)
    #expect(try purchaseDate(#""purchase_date":"","purchase_date_ms":"""#) == nil)
    #expect(decodingFailure { _ = try purchaseDate(#""purchase_date_ms":[1]"#) } != nil)
  }
}
