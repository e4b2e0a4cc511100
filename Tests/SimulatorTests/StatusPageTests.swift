import BackendConformance
import CommandTestSupport
import Foundation
import PurchaseQueue
import PurchaseSyncTesting
import Testing

@testable import purchase_simulator

/// The status page in a real browser; skipped if none is installed.
@Suite(.enabled(if: Browser.path != nil, "no Chromium is installed"))
struct StatusPageTests {
  @Test(arguments: [1_280, 360])
  func `the page shows what happened, without an error, on a desk and on a phone`(width: Int) async throws {
    _ = try await Served.world { server, lab, directory in
      let (order, paid) = try await lab.paidOrder(storeAccount: "<b>apple</b>")
      server.setFaults(
        try JSONDecoder().decode(
          FaultPlan.self,
          from: Data(#"{"rules":[{"path":"/v1/receipts","fault":"reset","count":2}]}"#.utf8)))
      let page = try Browser.page(server.baseURL.absoluteString + "/", width: width, directory)
      #expect(page.complaints == [])
      #expect(page.dom.contains("<td>\(order.number)</td>"))
      #expect(page.dom.contains("<td>\(paid.transactionID)</td>"))
      #expect(page.dom.contains("reset at  /v1/receipts, 2 times"))
      // Input of clients is shown as text, never as markup.
      #expect(page.dom.contains("<td>&lt;b&gt;apple&lt;/b&gt;</td>"))
    }
  }
}
