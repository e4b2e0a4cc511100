package import AppStoreReceipts
import Foundation
import PurchaseSync
import PurchaseSyncTesting

/// A step in a scenario file: `{"happens": "refunded", "purchase": 1}`.
extension EnvironmentStep {
  private enum Word: String, CaseIterable {
    case faults, wait, boughtOutside, promoted, payment, approved, refunded, refundReversed, family,
      planChanged, renewal
    case billing, consentRescinded, delivery, receiptLacks, backendBackedUp, backendRestored, storeAccount,
      phoneBackedUp
    case phoneRestored, phoneCloned, damaged, earlierVersion, repeatsTransactions, listsFinished
    case bundleTokens, bundleLeft, bundleElsewhere, seatAssigned, seatTaken, seatsRefunded, seatsRenewing
  }

  package init(file value: JSONValue, at path: [ScenarioProblem.Step]) throws(ScenarioProblem) {
    var fields = try ScenarioFields(value, at: path)
    let word = try fields.word("happens", of: Word.self)
    switch word {
    case .faults: self = .faults(try Self.faults(&fields))
    case .wait: self = .wait(milliseconds: try fields.duration())
    case .backendBackedUp: self = .backendBackedUp
    case .backendRestored: self = .backendRestored
    case .storeAccount: self = .storeAccount(try fields.text("storeAccount"))
    case .phoneBackedUp: self = .phoneBackedUp
    case .phoneRestored: self = .phoneRestored
    case .phoneCloned: self = .phoneCloned(to: try fields.text("to"))
    case .earlierVersion: self = .earlierVersion
    case .repeatsTransactions: self = .repeatsTransactions
    case .damaged: self = .damaged(try fields.word("where", of: Damage.self).rawValue)
    default: self = try Self.storeStep(word, &fields)
    }
    try fields.end()
  }

  private static func storeStep(
    _ word: Word, _ fields: inout ScenarioFields
  ) throws(ScenarioProblem) -> EnvironmentStep {
    switch word {
    case .boughtOutside:
      return .boughtOutside(
        product: try fields.product(), storeAccount: try fields.storeAccount(),
        count: try fields.whole("count", in: 1...10_000, default: 1))
    case .promoted:
      return .promoted(product: try fields.product(), storeAccount: try fields.storeAccount())
    case .payment:
      return .payment(
        storeAccount: try fields.storeAccount(), asksToBuy: try fields.flag("asksToBuy"),
        interruptions: try fields.whole("interruptions", in: 0...1_000, default: 0))
    case .refunded: return .refunded(purchase: try fields.purchase(), try extent(&fields))
    case .refundReversed: return .refundReversed(purchase: try fields.purchase())
    case .family:
      return .family(storeAccount: try fields.storeAccount(), members: try fields.texts("members"))
    case .planChanged:
      return .planChanged(purchase: try fields.purchase(), product: try fields.product())
    case .bundleTokens:
      return .bundle(.tokens(try fields.word("on", of: BundleTokens.self)))
    case .bundleLeft:
      return .bundle(.left(purchase: try fields.purchase(), keeps: try fields.flag("keeps")))
    case .bundleElsewhere:
      return .bundle(
        .elsewhere(members: try fields.texts("members"), storeAccount: try fields.storeAccount()))
    case .seatAssigned:
      return .seat(
        .assigned(
          purchase: try fields.purchase(), to: try fields.text("to"),
          carriesToken: try fields.flag("carriesToken")))
    case .seatTaken:
      return .seat(.taken(purchase: try fields.purchase(), from: try fields.text("from")))
    case .seatsRefunded:
      return .seat(
        .refunded(purchase: try fields.purchase(), count: try fields.whole("count", in: 1...100_000)))
    case .seatsRenewing:
      return .seat(
        .renewing(purchase: try fields.purchase(), count: try fields.whole("count", in: 1...100_000)))
    case .renewal: return .renewal(purchase: try fields.purchase(), isOn: try fields.flag("isOn"))
    case .listsFinished: return .listsFinished(try fields.flag("isOn"))
    case .billing:
      return .billing(storeAccount: try fields.storeAccount(), works: try fields.flag("works"))
    case .consentRescinded: return .consentRescinded(storeAccount: try fields.storeAccount())
    case .delivery:
      return .delivery(proofs: try proofs(&fields), forgetsToken: try fields.flag("forgetsToken"))
    case .receiptLacks:
      return .receiptLacks(
        purchases: try fields.whole("purchases", in: 1...1_000),
        readings: try fields.whole("readings", in: 1...1_000))
    default: return .approved
    }
  }

  /// All of it, unless units or the time that is left say how much.
  private static func extent(_ fields: inout ScenarioFields) throws(ScenarioProblem) -> RefundExtent {
    let units = try fields.wholeIfPresent("units", in: 1...10)
    if try fields.flag("timeLeft") { return .timeLeft }
    return units.map { .units($0) } ?? .whole
  }

  /// Where a file is damaged.
  package enum Damage: String, CaseIterable {
    case page, header
  }

  private static func proofs(_ fields: inout ScenarioFields) throws(ScenarioProblem) -> [String] {
    let kinds = [ProofKind.appReceipt, .transactionReceipt, .signedTransaction].map(\.rawValue)
    let proofs = try fields.texts("proofs")
    guard !proofs.isEmpty else { throw fields.problem("proofs", "expected one kind at least") }
    if let odd = proofs.first(where: { !kinds.contains($0) }) {
      throw fields.unknown("proofs", odd, among: kinds)
    }
    return proofs
  }

  /// The rules are those of `serve --faults FILE`.
  private static func faults(_ fields: inout ScenarioFields) throws(ScenarioProblem) -> FaultPlan {
    let rules = try fields.list("rules") { (value, path) throws(ScenarioProblem) in
      do {
        return try JSONDecoder().decode(FaultPlan.Rule.self, from: value.data)
      } catch let error as DecodingError {
        let (inner, message) = error.placed
        throw ScenarioProblem(path: path + inner, message: message)
      } catch {
        throw ScenarioProblem(path: path, message: error.localizedDescription)
      }
    }
    return FaultPlan(rules)
  }

  /// Throws if Foundation cannot encode the fault rules.
  package func fileValue() throws -> JSONValue {
    switch self {
    case .faults(let document):
      let rules = try JSONValue(json: try JSONEncoder().encode(document.rules))
      return .step("happens", Word.faults, ["rules": rules])
    case .wait(let milliseconds): return .step("happens", Word.wait, .duration(milliseconds))
    case .backendBackedUp: return .step("happens", Word.backendBackedUp)
    case .backendRestored: return .step("happens", Word.backendRestored)
    case .storeAccount(let name): return .step("happens", Word.storeAccount, ["storeAccount": .string(name)])
    case .phoneBackedUp: return .step("happens", Word.phoneBackedUp)
    case .phoneRestored: return .step("happens", Word.phoneRestored)
    case .phoneCloned(let to): return .step("happens", Word.phoneCloned, ["to": .string(to)])
    case .earlierVersion: return .step("happens", Word.earlierVersion)
    case .repeatsTransactions: return .step("happens", Word.repeatsTransactions)
    case .damaged(let place): return .step("happens", Word.damaged, ["where": .string(place)])
    default: return storeValue
    }
  }

  private var storeValue: JSONValue {
    switch self {
    case .boughtOutside(let product, let account, let count):
      .step(
        "happens", Word.boughtOutside,
        ["product": .string(product), "storeAccount": .string(account), "count": .whole(count)])
    case .promoted(let product, let account):
      .step("happens", Word.promoted, ["product": .string(product), "storeAccount": .string(account)])
    case .payment(let account, let asksToBuy, let interruptions):
      .step(
        "happens", Word.payment,
        [
          "storeAccount": .string(account), "asksToBuy": .bool(asksToBuy),
          "interruptions": .whole(interruptions),
        ])
    case .refunded(let purchase, let extent):
      .step(
        "happens", Word.refunded,
        ["purchase": .whole(purchase)].merging(extent.members) { $1 })
    case .refundReversed(let purchase):
      .step("happens", Word.refundReversed, ["purchase": .whole(purchase)])
    case .family(let account, let members):
      .step("happens", Word.family, ["storeAccount": .string(account), "members": .texts(members)])
    case .planChanged(let purchase, let product):
      .step("happens", Word.planChanged, ["purchase": .whole(purchase), "product": .string(product)])
    case .bundle(.tokens(let tokens)):
      .step("happens", Word.bundleTokens, ["on": .string(tokens.rawValue)])
    case .bundle(.left(let purchase, let keeps)):
      .step("happens", Word.bundleLeft, ["purchase": .whole(purchase), "keeps": .bool(keeps)])
    case .bundle(.elsewhere(let members, let account)):
      .step(
        "happens", Word.bundleElsewhere, ["members": .texts(members), "storeAccount": .string(account)])
    case .seat(.assigned(let purchase, let member, let carriesToken)):
      .step(
        "happens", Word.seatAssigned,
        ["purchase": .whole(purchase), "to": .string(member), "carriesToken": .bool(carriesToken)])
    case .seat(.taken(let purchase, let member)):
      .step("happens", Word.seatTaken, ["purchase": .whole(purchase), "from": .string(member)])
    case .seat(.refunded(let purchase, let count)):
      .step("happens", Word.seatsRefunded, ["purchase": .whole(purchase), "count": .whole(count)])
    case .seat(.renewing(let purchase, let count)):
      .step("happens", Word.seatsRenewing, ["purchase": .whole(purchase), "count": .whole(count)])
    case .renewal(let purchase, let isOn):
      .step("happens", Word.renewal, ["purchase": .whole(purchase), "isOn": .bool(isOn)])
    case .listsFinished(let isOn): .step("happens", Word.listsFinished, ["isOn": .bool(isOn)])
    case .billing(let account, let works):
      .step("happens", Word.billing, ["storeAccount": .string(account), "works": .bool(works)])
    case .consentRescinded(let account):
      .step("happens", Word.consentRescinded, ["storeAccount": .string(account)])
    case .delivery(let proofs, let forgetsToken):
      .step("happens", Word.delivery, ["proofs": .texts(proofs), "forgetsToken": .bool(forgetsToken)])
    case .receiptLacks(let purchases, let readings):
      .step("happens", Word.receiptLacks, ["purchases": .whole(purchases), "readings": .whole(readings)])
    default: .step("happens", Word.approved)
    }
  }
}

extension RefundExtent {
  /// A scenario says units or the time that is left; it has no share of a price.
  fileprivate var members: [String: JSONValue] {
    switch self {
    case .units(let units): ["units": .whole(units)]
    case .timeLeft: ["timeLeft": .bool(true)]
    case .whole, .share: [:]
    }
  }
}

extension DecodingError {
  /// The place and the message, without the type's name.
  package var placed: (path: [ScenarioProblem.Step], message: String) {
    switch self {
    case .typeMismatch(_, let context), .valueNotFound(_, let context), .dataCorrupted(let context):
      return (Self.steps(context.codingPath), context.debugDescription)
    case .keyNotFound(let key, let context):
      return (Self.steps(context.codingPath), "\"\(key.stringValue)\" is missing")
    @unknown default: return ([], "it is not readable")
    }
  }

  /// Both in one line.
  package var words: String {
    let (path, message) = placed
    return path.isEmpty ? message : ScenarioProblem(path: path, message: message).place + ": " + message
  }

  private static func steps(_ path: [any CodingKey]) -> [ScenarioProblem.Step] {
    path.map { key in key.intValue.map(ScenarioProblem.Step.item) ?? .member(key.stringValue) }
  }
}
