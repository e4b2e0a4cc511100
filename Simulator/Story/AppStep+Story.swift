/// A step as a story has it: `{"do": "buy", "product": "gems.100", "account": "alice"}`.
extension AppStep {
  private enum Word: String, CaseIterable {
    case buy, buyWithoutOrder, buyPromoted, signIn, signOut, claim, useStoreAccount, jumpClock, fillDisk, use
  }

  init(story node: StoryNode, at path: [StoryProblem.Step]) throws(StoryProblem) {
    var fields = try StoryFields(node, at: path)
    switch try fields.word("do", of: Word.self) {
    case .buy: self = .buy(product: try fields.product(), account: try fields.text("account"))
    case .buyWithoutOrder: self = .buyWithoutOrder(product: try fields.product())
    case .buyPromoted: self = .buyPromoted(account: try fields.text("account"))
    case .signIn: self = .signIn(account: try fields.text("account"))
    case .signOut: self = .signOut(account: try fields.text("account"))
    case .claim: self = .claim(account: try fields.text("account"))
    case .useStoreAccount: self = .useStoreAccount(try fields.text("storeAccount"))
    case .jumpClock: self = .jumpClock(milliseconds: try fields.duration(mayGoBack: true))
    case .fillDisk: self = .fillDisk
    case .use: self = .use(milliseconds: try fields.whole("milliseconds", in: 0...60_000))
    }
    try fields.end()
  }

  var story: StoryNode {
    switch self {
    case .buy(let product, let account):
      .step("do", Word.buy, [.text("product", product), .text("account", account)])
    case .buyWithoutOrder(let product): .step("do", Word.buyWithoutOrder, [.text("product", product)])
    case .buyPromoted(let account): .step("do", Word.buyPromoted, [.text("account", account)])
    case .signIn(let account): .step("do", Word.signIn, [.text("account", account)])
    case .signOut(let account): .step("do", Word.signOut, [.text("account", account)])
    case .claim(let account): .step("do", Word.claim, [.text("account", account)])
    case .useStoreAccount(let name): .step("do", Word.useStoreAccount, [.text("storeAccount", name)])
    case .jumpClock(let milliseconds): .step("do", Word.jumpClock, [.duration(milliseconds)])
    case .fillDisk: .step("do", Word.fillDisk, [])
    case .use(let milliseconds): .step("do", Word.use, [.whole("milliseconds", milliseconds)])
    }
  }
}
