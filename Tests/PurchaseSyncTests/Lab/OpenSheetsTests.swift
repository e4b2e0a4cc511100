import AppStoreReceipts
import PurchaseQueue
import Testing

@testable import PurchaseSync

@Suite struct OpenSheetsTests {
  @Test func `a transaction that came before a sheet is not its payment`() {
    var sheets = OpenSheets()
    #expect(!sheets.isToNote(key("100")), "before the first sheet nothing has to be remembered")
    sheets.open(for: "order-1")
    #expect(sheets.isToNote(key("100")))
    sheets.arrived(key("100"))
    #expect(!sheets.isToNote(key("100")), "the first arrival counts")
    sheets.open(for: "order-2")
    #expect(!sheets.came(key("100"), before: "order-1"))
    #expect(sheets.came(key("100"), before: "order-2"))
    #expect(sheets.came(key("101"), before: "order-1"), "it came before the first sheet")
    #expect(sheets.orders == ["order-1", "order-2"])
  }

  @Test func `an order that no sheet has opened for is nobody's payment`() {
    var sheets = OpenSheets()
    sheets.open(for: "order-1")
    #expect(!sheets.came(key("100"), before: "order of another process"))
  }

  /// The accounts with open sheets for codes, who uses the app, and for whom a code's transaction is.
  @Test(
    arguments: [
      (["alice"], "alice", .signedInAccount), (["alice"], nil, .signedInAccount), ([], "alice", .device),
      (["alice", "bob"], "alice", .device), (["bob"], "alice", .device),
    ] as [([String], String?, UnclaimedPolicy)])
  func `a code's transaction without a token goes to the account whose sheet is open`(
    accounts: [String], present: String?, policy: UnclaimedPolicy
  ) {
    var sheets = OpenSheets()
    for account in accounts { sheets.openRedemption("code-" + account, for: account) }
    var code = bought("100")
    code.offerType = .code
    let user = AppUser(account: present, policy: .device)
    #expect(sheets.user(of: code, user).policy == policy)
    #expect(sheets.user(of: bought("101"), user).policy == .device, "not of a code")
    #expect(sheets.user(of: code, user).account == (policy == .device ? present : "alice"))
    for account in accounts { sheets.endRedemption("code-" + account) }
    #expect(sheets.user(of: code, user).policy == .device)
  }
}
