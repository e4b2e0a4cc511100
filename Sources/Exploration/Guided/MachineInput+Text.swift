import Foundation
import PurchaseSync

/// An input as a file: JSON with a line for each act.
extension MachineInput {
  /// What the file says next to the acts.
  private struct Head: Codable {
    var seed: UInt64
    var profile: String
    var phones: Int
    var accounts: Int
    var storeAccounts: Int
    /// How long the faults may last.
    var milliseconds: Int64
    var latency: Int
    var confirmation: Int
    var entries: Int
    var quarantined: Int
    var tombstones: Int
    var hasVault: Bool
    var unclaimed: String
  }

  private struct Document: Codable {
    /// Why the file is kept, for a person.
    var about: String?
    var knobs: Head
    var acts: [WrittenAct]
  }

  /// - Parameter about: Why it is kept.
  package func text(about: String? = nil) throws -> String {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    func line(_ value: some Encodable) throws -> String {
      String(decoding: try encoder.encode(value), as: UTF8.self)
    }
    let head = Head(
      seed: knobs.seed, profile: knobs.profile.rawValue, phones: knobs.phones, accounts: knobs.accounts,
      storeAccounts: knobs.storeAccounts, milliseconds: knobs.length, latency: knobs.latency,
      confirmation: knobs.confirmation, entries: knobs.entries, quarantined: knobs.quarantined,
      tombstones: knobs.tombstones, hasVault: knobs.hasVault, unclaimed: knobs.unclaimed.rawValue)
    let lines = try acts.map { "  " + (try line(WrittenAct($0))) }
    var text = "{\n"
    if let about { text += "\"about\": \(try line(about)),\n" }
    text += "\"knobs\": \(try line(head)),\n\"acts\": [\n"
    return text + lines.joined(separator: ",\n") + "\n]\n}\n"
  }

  package init(text: String) throws {
    let document: Document
    do {
      document = try JSONDecoder().decode(Document.self, from: Data(text.utf8))
    } catch {
      throw InputError(description: "it is no input of explore --guided: \(error)")
    }
    let head = document.knobs
    guard let profile = SimulationProfile(rawValue: head.profile),
      let unclaimed = UnclaimedPolicy(rawValue: head.unclaimed)
    else { throw InputError(description: "it has an unknown profile or policy") }
    var knobs = MachineKnobs(seed: head.seed, profile: profile)
    (knobs.phones, knobs.accounts, knobs.storeAccounts) = (head.phones, head.accounts, head.storeAccounts)
    (knobs.length, knobs.latency, knobs.confirmation) = (head.milliseconds, head.latency, head.confirmation)
    (knobs.entries, knobs.quarantined) = (head.entries, head.quarantined)
    (knobs.tombstones, knobs.hasVault, knobs.unclaimed) = (head.tombstones, head.hasVault, unclaimed)
    let people = [knobs.phones, knobs.accounts, knobs.storeAccounts]
    guard people.allSatisfy({ (1...3).contains($0) }) else {
      throw InputError(description: "it needs 1 to 3 phones, accounts and Apple IDs")
    }
    let sizes = [knobs.latency, knobs.confirmation, knobs.entries, knobs.quarantined, knobs.tombstones]
    guard sizes.allSatisfy({ (1...1_000_000).contains($0) }), (1...10_000_000_000).contains(knobs.length)
    else { throw InputError(description: "a size is not between 1 and a million") }
    var acts: [PlannedAct] = []
    for (place, written) in document.acts.enumerated() {
      guard let planned = written.planned(knobs) else {
        throw InputError(description: "act \(place) ('\(written.act)') is none of this run")
      }
      acts.append(planned)
    }
    for (place, planned) in acts.enumerated() {
      guard let purchase = planned.act.purchase else { continue }
      guard acts.indices.contains(purchase), acts[purchase].act.isBuying else {
        throw InputError(description: "act \(place) names act \(purchase), which is no purchase")
      }
    }
    let moments = acts.map(\.at).filter { $0 >= 0 }
    guard zip(moments, moments.dropFirst()).allSatisfy({ $0 <= $1 }) else {
      throw InputError(description: "its acts are not in the order of their moments")
    }
    self.init(knobs: knobs, acts: acts)
  }
}

/// Why a file is no input.
package struct InputError: Error, CustomStringConvertible {
  package var description: String
}
