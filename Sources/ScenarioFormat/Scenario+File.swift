package import AppStoreReceipts
import PurchaseSync

/// A scenario as a file has it, and back.
extension Scenario {
  package init(file value: JSONValue) throws(ScenarioProblem) {
    var fields = try ScenarioFields(value, at: [])
    name = try fields.text("name")
    // It names a folder.
    guard name.wholeMatch(of: /[a-z0-9][a-z0-9-]{0,63}/) != nil else {
      throw fields.problem("name", "expected 1 to 64 small letters, digits and hyphens, not first a hyphen")
    }
    summary = try fields.text("summary", default: name)
    description = try fields.text("description", default: "")
    attacks = try fields.text("attacks", default: "")
    proves = try fields.texts("proves")
    entries = try fields.wholeIfPresent("entries", in: 1...100_000)
    seconds = try fields.whole("seconds", in: 1...600, default: 10)
    timeScale = try fields.whole("timeScale", in: 1...1_000_000, default: 1_000)
    if fields.has("environment") {
      environment = StoreEnvironment(rawValue: try fields.word("environment", of: StoreWord.self).rawValue)
    }
    verifiesOverHTTP = try fields.flag("verifiesOverHTTP")
    signsReplies = try fields.flag("signsReplies")
    finishesAtStore = try fields.flag("finishesAtStore")
    makesOrders = try fields.flag("makesOrders")
    if fields.has("unclaimed") { unclaimed = try fields.word("unclaimed", of: UnclaimedPolicy.self) }
    _ = try fields.value("launches", "a list of launches of the app, of one at least")
    launches = try fields.list("launches", least: 1, Launch.init(file:at:))
    try checkBackups()
    if fields.has("expects") {
      expects = try Expectation(file: try fields.value("expects"), at: [.member("expects")])
    }
    try fields.end()
  }

  /// The stores that an app can use.
  private enum StoreWord: String, CaseIterable {
    case production = "Production"
    case sandbox = "Sandbox"
    case xcode = "Xcode"
  }

  /// A restore needs an earlier backup.
  private func checkBackups() throws(ScenarioProblem) {
    var backedUp: Set<EnvironmentStep> = []
    for (number, launch) in launches.enumerated() {
      for (place, step) in launch.before.enumerated() {
        let needed: EnvironmentStep? =
          switch step {
          case .backendRestored: .backendBackedUp
          case .phoneRestored: .phoneBackedUp
          default: nil
          }
        if let needed, !backedUp.contains(needed) {
          throw ScenarioProblem(
            path: [.member("launches"), .item(number), .member("before"), .item(place)],
            message: "nothing was backed up before")
        }
        backedUp.insert(step)
      }
    }
  }

  /// All of it; members with their usual value are left out.
  package func fileValue() throws -> JSONValue {
    var members: [String: JSONValue] = ["name": .string(name), "summary": .string(summary)]
    if !description.isEmpty { members["description"] = .string(description) }
    if !attacks.isEmpty { members["attacks"] = .string(attacks) }
    if !proves.isEmpty { members["proves"] = .texts(proves) }
    if let entries { members["entries"] = .whole(entries) }
    if seconds != 10 { members["seconds"] = .integer(seconds) }
    if timeScale != 1_000 { members["timeScale"] = .integer(timeScale) }
    if environment != .production { members["environment"] = .string(environment.rawValue) }
    if verifiesOverHTTP { members["verifiesOverHTTP"] = true }
    if signsReplies { members["signsReplies"] = true }
    if finishesAtStore { members["finishesAtStore"] = true }
    if makesOrders { members["makesOrders"] = true }
    if unclaimed != .device { members["unclaimed"] = .string(unclaimed.rawValue) }
    members["launches"] = .array(try launches.map { try $0.fileValue() })
    if expects != Expectation() { members["expects"] = expects.fileValue }
    return .object(members)
  }
}

extension Scenario.Launch {
  fileprivate init(file value: JSONValue, at path: [ScenarioProblem.Step]) throws(ScenarioProblem) {
    var fields = try ScenarioFields(value, at: path)
    before = try fields.list("before", EnvironmentStep.init(file:at:))
    signedIn = try fields.texts("signedIn", default: signedIn)
    does = try fields.list("does", AppStep.init(file:at:))
    `extension` = try fields.list("extension", AppStep.init(file:at:))
    killed = fields.has("killed") ? try fields.word("killed", of: Crash.self) : nil
    reinstalled = try fields.flag("reinstalled")
    granted = try fields.wholeIfPresent("granted", in: 0...1_000_000)
    isVaultLocked = try fields.flag("isVaultLocked")
    phone = try fields.text("phone", default: phone)
    try fields.end()
  }

  fileprivate func fileValue() throws -> JSONValue {
    var members: [String: JSONValue] = [:]
    if !before.isEmpty { members["before"] = .array(try before.map { try $0.fileValue() }) }
    if signedIn != Self().signedIn { members["signedIn"] = .texts(signedIn) }
    if !does.isEmpty { members["does"] = .array(does.map(\.fileValue)) }
    if !`extension`.isEmpty { members["extension"] = .array(`extension`.map(\.fileValue)) }
    if let killed { members["killed"] = .string(killed.rawValue) }
    if reinstalled { members["reinstalled"] = true }
    if let granted { members["granted"] = .whole(granted) }
    if isVaultLocked { members["isVaultLocked"] = true }
    if phone != Scenario.phone { members["phone"] = .string(phone) }
    return .object(members)
  }
}

extension Scenario.Expectation {
  fileprivate init(file value: JSONValue, at path: [ScenarioProblem.Step]) throws(ScenarioProblem) {
    var fields = try ScenarioFields(value, at: path)
    paid = try fields.wholeIfPresent("paid", in: 0...1_000_000)
    verdicts = try Self.counts("verdicts", &fields)
    orders = try Self.counts("orders", &fields)
    owners = try Self.counts("owners", &fields)
    ofDevices = try fields.wholeIfPresent("ofDevices", in: 0...1_000_000)
    try fields.end()
  }

  private static func counts(
    _ name: String, _ fields: inout ScenarioFields
  ) throws(ScenarioProblem) -> [String: Int] {
    guard fields.has(name) else { return [:] }
    var counts = try ScenarioFields(try fields.value(name), at: fields.path + [.member(name)])
    var found: [String: Int] = [:]
    for word in counts.names { found[word] = try counts.whole(word, in: 0...1_000_000) }
    return found
  }

  fileprivate var fileValue: JSONValue {
    var members: [String: JSONValue] = [:]
    if let paid { members["paid"] = .whole(paid) }
    if !verdicts.isEmpty { members["verdicts"] = .object(verdicts.mapValues { .whole($0) }) }
    if !orders.isEmpty { members["orders"] = .object(orders.mapValues { .whole($0) }) }
    if !owners.isEmpty { members["owners"] = .object(owners.mapValues { .whole($0) }) }
    if let ofDevices { members["ofDevices"] = .whole(ofDevices) }
    return .object(members)
  }
}
