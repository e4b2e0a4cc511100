package import AppStoreReceipts

/// A step in a scenario file: `{"do": "buy", "product": "gems.100", "account": "alice"}`.
extension AppStep {
  private enum Word: String, CaseIterable {
    case buy, buyWithoutOrder, buyPromoted, signIn, signOut, adopt, useStoreAccount, jumpClock, fillDisk, use
    case dismissSheets, buyHeardFirst, neverConfirm
    case restore, goOffline, meetPortal, goOnline, tap
  }

  package init(file value: JSONValue, at path: [ScenarioProblem.Step]) throws(ScenarioProblem) {
    var fields = try ScenarioFields(value, at: path)
    switch try fields.word("do", of: Word.self) {
    case .buy:
      self = .buy(
        product: try fields.product(), account: try fields.text("account"),
        quantity: try fields.whole("quantity", in: 1...10, default: 1))
    case .buyWithoutOrder: self = .buyWithoutOrder(product: try fields.product())
    case .buyPromoted: self = .buyPromoted(account: try fields.text("account"))
    case .signIn: self = .signIn(account: try fields.text("account"))
    case .signOut: self = .signOut(account: try fields.text("account"))
    case .adopt: self = .adopt(account: try fields.text("account"))
    case .restore: self = .restore
    case .useStoreAccount: self = .useStoreAccount(try fields.text("storeAccount"))
    case .jumpClock: self = .jumpClock(milliseconds: try fields.duration(mayGoBack: true))
    case .fillDisk: self = .fillDisk
    case .use: self = .use(milliseconds: try fields.whole("milliseconds", in: 0...60_000))
    case .dismissSheets:
      self = .dismissSheets(
        product: try fields.product(), account: try fields.text("account"),
        count: try fields.whole("count", in: 1...10_000))
    case .buyHeardFirst:
      self = .buyHeardFirst(product: try fields.product(), account: try fields.text("account"))
    case .neverConfirm: self = .neverConfirm
    case .goOffline: self = .goOffline
    case .meetPortal: self = .meetPortal
    case .goOnline: self = .goOnline
    case .tap: self = .tap(count: try fields.whole("count", in: 1...1_000))
    }
    try fields.end()
  }

  package var fileValue: JSONValue {
    switch self {
    case .buy(let product, let account, let quantity):
      .step(
        "do", Word.buy,
        ["product": .string(product), "account": .string(account)].merging(
          quantity == 1 ? [:] : ["quantity": .whole(quantity)]
        ) { $1 })
    case .buyWithoutOrder(let product): .step("do", Word.buyWithoutOrder, ["product": .string(product)])
    case .buyPromoted(let account): .step("do", Word.buyPromoted, ["account": .string(account)])
    case .signIn(let account): .step("do", Word.signIn, ["account": .string(account)])
    case .signOut(let account): .step("do", Word.signOut, ["account": .string(account)])
    case .adopt(let account): .step("do", Word.adopt, ["account": .string(account)])
    case .restore: .step("do", Word.restore)
    case .useStoreAccount(let name): .step("do", Word.useStoreAccount, ["storeAccount": .string(name)])
    case .jumpClock(let milliseconds): .step("do", Word.jumpClock, .duration(milliseconds))
    case .fillDisk: .step("do", Word.fillDisk)
    case .use(let milliseconds): .step("do", Word.use, ["milliseconds": .integer(milliseconds)])
    case .dismissSheets(let product, let account, let count):
      .step(
        "do", Word.dismissSheets,
        ["product": .string(product), "account": .string(account), "count": .whole(count)])
    case .buyHeardFirst(let product, let account):
      .step("do", Word.buyHeardFirst, ["product": .string(product), "account": .string(account)])
    case .neverConfirm: .step("do", Word.neverConfirm)
    case .goOffline: .step("do", Word.goOffline)
    case .meetPortal: .step("do", Word.meetPortal)
    case .goOnline: .step("do", Word.goOnline)
    case .tap(let count): .step("do", Word.tap, ["count": .whole(count)])
    }
  }
}
