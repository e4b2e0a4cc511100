/// A scenario as the file of a story has it, and back.
extension Scenario {
  init(story node: StoryNode) throws(StoryProblem) {
    var fields = try StoryFields(node, at: [])
    name = try fields.text("name")
    // It names a folder.
    guard name.wholeMatch(of: /[a-z0-9][a-z0-9-]{0,63}/) != nil else {
      throw fields.problem("name", "expected 1 to 64 small letters, digits and hyphens, not first a hyphen")
    }
    summary = try fields.text("summary", default: name)
    story = try fields.text("story", default: "")
    attacks = try fields.text("attacks", default: "")
    proves = try fields.texts("proves")
    entries = fields.has("entries") ? Int(try fields.whole("entries", in: 1...100_000)) : nil
    seconds = try fields.whole("seconds", in: 1...600, default: 10)
    timeScale = try fields.whole("timeScale", in: 1...1_000_000, default: 1_000)
    isSandbox = try fields.flag("isSandbox")
    verifiesOverHTTP = try fields.flag("verifiesOverHTTP")
    launches = []
    _ = try fields.node("launches", "a list of runs of the app, of one at least")
    for (node, path) in try fields.list("launches", least: 1) {
      launches.append(try Launch(story: node, at: path))
    }
    try checkBackups()
    if fields.has("expects") {
      expects = try Expectation(story: try fields.node("expects"), at: [.member("expects")])
    }
    try fields.end()
  }

  /// What is restored has to have been backed up before.
  private func checkBackups() throws(StoryProblem) {
    var backedUp: Set<WorldStep> = []
    for (number, launch) in launches.enumerated() {
      for (place, step) in launch.before.enumerated() {
        let needed: WorldStep? =
          switch step {
          case .backendRestored: .backendBackedUp
          case .phoneRestored: .phoneBackedUp
          default: nil
          }
        if let needed, !backedUp.contains(needed) {
          throw StoryProblem(
            path: [.member("launches"), .item(number), .member("before"), .item(place)],
            message: "nothing was backed up before")
        }
        backedUp.insert(step)
      }
    }
  }

  /// The whole of it, with what is as usual left out.
  func storyNode() throws -> StoryNode {
    var members: [StoryNode.Member] = [.text("name", name), .text("summary", summary)]
    if !story.isEmpty { members.append(.text("story", story)) }
    if !attacks.isEmpty { members.append(.text("attacks", attacks)) }
    if !proves.isEmpty { members.append(.texts("proves", proves)) }
    if let entries { members.append(.whole("entries", entries)) }
    if seconds != 10 { members.append(.whole("seconds", seconds)) }
    if timeScale != 1_000 { members.append(.whole("timeScale", timeScale)) }
    if isSandbox { members.append(.flag("isSandbox", true)) }
    if verifiesOverHTTP { members.append(.flag("verifiesOverHTTP", true)) }
    members.append(.init(name: "launches", value: .list(try launches.map { try $0.story() })))
    if expects != Expectation() { members.append(.init(name: "expects", value: expects.story)) }
    return .object(members)
  }
}

extension Scenario.Launch {
  fileprivate init(story node: StoryNode, at path: [StoryProblem.Step]) throws(StoryProblem) {
    var fields = try StoryFields(node, at: path)
    for (node, path) in try fields.list("before") { before.append(try WorldStep(story: node, at: path)) }
    signedIn = try fields.texts("signedIn", default: signedIn)
    for (node, path) in try fields.list("does") { does.append(try AppStep(story: node, at: path)) }
    for (node, path) in try fields.list("extension") {
      `extension`.append(try AppStep(story: node, at: path))
    }
    killed = fields.has("killed") ? try fields.word("killed", of: Crash.self) : nil
    reinstalled = try fields.flag("reinstalled")
    granted = fields.has("granted") ? Int(try fields.whole("granted", in: 0...1_000_000)) : nil
    isVaultLocked = try fields.flag("isVaultLocked")
    try fields.end()
  }

  fileprivate func story() throws -> StoryNode {
    var members: [StoryNode.Member] = []
    if !before.isEmpty {
      members.append(.init(name: "before", value: .list(try before.map { try $0.story() })))
    }
    if signedIn != Self().signedIn { members.append(.texts("signedIn", signedIn)) }
    if !does.isEmpty { members.append(.init(name: "does", value: .list(does.map(\.story)))) }
    if !`extension`.isEmpty {
      members.append(.init(name: "extension", value: .list(`extension`.map(\.story))))
    }
    if let killed { members.append(.text("killed", killed.rawValue)) }
    if reinstalled { members.append(.flag("reinstalled", true)) }
    if let granted { members.append(.whole("granted", granted)) }
    if isVaultLocked { members.append(.flag("isVaultLocked", true)) }
    return .object(members)
  }
}

extension Scenario.Expectation {
  fileprivate init(story node: StoryNode, at path: [StoryProblem.Step]) throws(StoryProblem) {
    var fields = try StoryFields(node, at: path)
    if fields.has("paid") { paid = Int(try fields.whole("paid", in: 0...1_000_000)) }
    if fields.has("verdicts") {
      var counts = try StoryFields(try fields.node("verdicts"), at: path + [.member("verdicts")])
      for name in counts.names { verdicts[name] = Int(try counts.whole(name, in: 0...1_000_000)) }
    }
    try fields.end()
  }

  fileprivate var story: StoryNode {
    var members: [StoryNode.Member] = []
    if let paid { members.append(.whole("paid", paid)) }
    if !verdicts.isEmpty {
      let counts = verdicts.sorted { $0.key < $1.key }.map { StoryNode.Member.whole($0.key, $0.value) }
      members.append(.init(name: "verdicts", value: .object(counts)))
    }
    return .object(members)
  }
}
