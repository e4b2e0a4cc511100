import Foundation
import PurchaseSync
import PurchaseSyncTesting

/// A step as a story has it: `{"happens": "refunded", "purchase": 1}`.
extension WorldStep {
  private enum Word: String, CaseIterable {
    case faults, wait, boughtOutside, promoted, payment, approved, refunded, family, planChanged, renewal
    case billing, delivery, receiptLacks, backendBackedUp, backendRestored, storeAccount, phoneBackedUp
    case phoneRestored, damaged, earlierVersion
  }

  init(story node: StoryNode, at path: [StoryProblem.Step]) throws(StoryProblem) {
    var fields = try StoryFields(node, at: path)
    let word = try fields.word("happens", of: Word.self)
    switch word {
    case .faults: self = .faults(try Self.faults(&fields))
    case .wait: self = .wait(milliseconds: try fields.duration())
    case .backendBackedUp: self = .backendBackedUp
    case .backendRestored: self = .backendRestored
    case .storeAccount: self = .storeAccount(try fields.text("storeAccount"))
    case .phoneBackedUp: self = .phoneBackedUp
    case .phoneRestored: self = .phoneRestored
    case .earlierVersion: self = .earlierVersion
    case .damaged: self = .damaged(try fields.word("where", of: Damage.self).rawValue)
    default: self = try Self.storeStep(word, &fields)
    }
    try fields.end()
  }

  private static func storeStep(_ word: Word, _ fields: inout StoryFields) throws(StoryProblem) -> WorldStep {
    switch word {
    case .boughtOutside:
      return .boughtOutside(
        product: try fields.product(), storeAccount: try fields.storeAccount(),
        count: Int(try fields.whole("count", in: 1...10_000, default: 1)))
    case .promoted:
      return .promoted(product: try fields.product(), storeAccount: try fields.storeAccount())
    case .payment:
      return .payment(
        storeAccount: try fields.storeAccount(), asksToBuy: try fields.flag("asksToBuy"),
        interruptions: Int(try fields.whole("interruptions", in: 0...1_000, default: 0)))
    case .refunded: return .refunded(purchase: try fields.purchase())
    case .family:
      return .family(storeAccount: try fields.storeAccount(), members: try fields.texts("members"))
    case .planChanged:
      return .planChanged(purchase: try fields.purchase(), product: try fields.product())
    case .renewal: return .renewal(purchase: try fields.purchase(), isOn: try fields.flag("isOn"))
    case .billing:
      return .billing(storeAccount: try fields.storeAccount(), works: try fields.flag("works"))
    case .delivery:
      return .delivery(proofs: try Self.proofs(&fields), forgetsToken: try fields.flag("forgetsToken"))
    case .receiptLacks:
      return .receiptLacks(
        purchases: Int(try fields.whole("purchases", in: 1...1_000)),
        readings: Int(try fields.whole("readings", in: 1...1_000)))
    default: return .approved
    }
  }

  /// Where a file is damaged.
  enum Damage: String, CaseIterable {
    case page, header
  }

  private static func proofs(_ fields: inout StoryFields) throws(StoryProblem) -> [String] {
    let kinds = [ProofKind.appReceipt, .transactionReceipt, .signedTransaction].map(\.rawValue)
    let proofs = try fields.texts("proofs")
    guard let first = proofs.first else { throw fields.problem("proofs", "expected one kind at least") }
    if let odd = proofs.first(where: { !kinds.contains($0) }) {
      throw fields.unknown("proofs", odd, among: kinds)
    }
    return [first] + proofs.dropFirst()
  }

  /// The rules are those of `serve --faults FILE`.
  private static func faults(_ fields: inout StoryFields) throws(StoryProblem) -> FaultPlanDocument {
    var rules: [FaultPlanDocument.Rule] = []
    for (node, path) in try fields.list("rules") {
      do {
        rules.append(
          try JSONDecoder().decode(FaultPlanDocument.Rule.self, from: try JSONEncoder().encode(node)))
      } catch let error as DecodingError {
        let (inner, message) = error.placed
        throw StoryProblem(path: path + inner, message: message)
      } catch {
        throw StoryProblem(path: path, message: error.localizedDescription)
      }
    }
    return FaultPlanDocument(rules: rules)
  }

  /// Throws only what the encoder of Foundation does, which knows all of this.
  func story() throws -> StoryNode {
    switch self {
    case .faults(let document):
      let rules = try JSONDecoder().decode([StoryNode].self, from: try JSONEncoder().encode(document.rules))
      return .step("happens", Word.faults, [.init(name: "rules", value: .list(rules))])
    case .wait(let milliseconds): return .step("happens", Word.wait, [.duration(milliseconds)])
    case .backendBackedUp: return .step("happens", Word.backendBackedUp, [])
    case .backendRestored: return .step("happens", Word.backendRestored, [])
    case .storeAccount(let name): return .step("happens", Word.storeAccount, [.text("storeAccount", name)])
    case .phoneBackedUp: return .step("happens", Word.phoneBackedUp, [])
    case .phoneRestored: return .step("happens", Word.phoneRestored, [])
    case .earlierVersion: return .step("happens", Word.earlierVersion, [])
    case .damaged(let place): return .step("happens", Word.damaged, [.text("where", place)])
    default: return storeStory
    }
  }

  private var storeStory: StoryNode {
    switch self {
    case .boughtOutside(let product, let account, let count):
      .step(
        "happens", Word.boughtOutside,
        [.text("product", product), .text("storeAccount", account), .whole("count", count)])
    case .promoted(let product, let account):
      .step("happens", Word.promoted, [.text("product", product), .text("storeAccount", account)])
    case .payment(let account, let asksToBuy, let interruptions):
      .step(
        "happens", Word.payment,
        [
          .text("storeAccount", account), .flag("asksToBuy", asksToBuy),
          .whole("interruptions", interruptions),
        ])
    case .refunded(let purchase): .step("happens", Word.refunded, [.whole("purchase", purchase)])
    case .family(let account, let members):
      .step("happens", Word.family, [.text("storeAccount", account), .texts("members", members)])
    case .planChanged(let purchase, let product):
      .step("happens", Word.planChanged, [.whole("purchase", purchase), .text("product", product)])
    case .renewal(let purchase, let isOn):
      .step("happens", Word.renewal, [.whole("purchase", purchase), .flag("isOn", isOn)])
    case .billing(let account, let works):
      .step("happens", Word.billing, [.text("storeAccount", account), .flag("works", works)])
    case .delivery(let proofs, let forgetsToken):
      .step("happens", Word.delivery, [.texts("proofs", proofs), .flag("forgetsToken", forgetsToken)])
    case .receiptLacks(let purchases, let readings):
      .step("happens", Word.receiptLacks, [.whole("purchases", purchases), .whole("readings", readings)])
    default: .step("happens", Word.approved, [])
    }
  }
}

extension DecodingError {
  /// Where it is, and what it says, without the type's name.
  var placed: (path: [StoryProblem.Step], message: String) {
    switch self {
    case .typeMismatch(_, let told), .valueNotFound(_, let told), .dataCorrupted(let told):
      return (Self.steps(told.codingPath), told.debugDescription)
    case .keyNotFound(let key, let told):
      return (Self.steps(told.codingPath), "\"\(key.stringValue)\" is missing")
    @unknown default: return ([], "it is not readable")
    }
  }

  /// Both in one line.
  var words: String {
    let (path, message) = placed
    return path.isEmpty ? message : StoryProblem(path: path, message: message).place + ": " + message
  }

  private static func steps(_ path: [any CodingKey]) -> [StoryProblem.Step] {
    path.map { key in key.intValue.map(StoryProblem.Step.item) ?? .member(key.stringValue) }
  }
}
