import CommandLineTools
import Foundation
import PurchaseQueue

/// `inspect`: prints the content of a queue's file, without payloads and details. Changes nothing.
struct InspectCommand {
  let options: InspectOptions

  func execute() -> Int32 {
    do throws(QueueError) {
      let snapshot = try QueueSnapshot(of: options.path)
      return try show(snapshot)
    } catch {
      Terminal.complain("\(Self.complaint(error))")
      return Self.exitCode(error)
    }
  }

  private func show(_ snapshot: QueueSnapshot) throws(QueueError) -> Int32 {
    switch options.subject {
    case .everything:
      let report = try InspectReport(snapshot)
      Terminal.line(try options.json ? json(report) : InspectText(report, now: .wallClock()).text)
    case .entry(let name):
      let files = try snapshot.inCopy { (queue) throws(QueueError) in
        try queue.keys(named: name).map { (key) throws(QueueError) in try queue.caseFile(for: key) }
      }
      guard try show(files.compactMap { $0 }, named: "entry \(name)") else { return ExitCode.notFound }
    case .order(let number):
      let files = try snapshot.inCopy { (queue) throws(QueueError) in try queue.caseFiles(order: number) }
      guard try show(files, named: "entry of order \(number)") else { return ExitCode.notFound }
    }
    guard !snapshot.isSound else { return ExitCode.ok }
    Terminal.complain("" + Self.damage(snapshot))
    return ExitCode.badData
  }

  private func show(_ files: [CaseFile], named name: String) throws(QueueError) -> Bool {
    if options.json {
      Terminal.line(try json(["caseFiles": files]))
    } else if !files.isEmpty {
      Terminal.line(files.map { SafeText.shown($0.description) }.joined(separator: "\n\n"))
    }
    if files.isEmpty {
      let what = SafeText.shown(name)
      Terminal.complain("\(options.path) has no \(what), queued or settled")
    }
    return !files.isEmpty
  }

  private func json(_ value: some Encodable) throws(QueueError) -> String {
    do {
      return try JSONOutput.document(value)
    } catch {
      throw .invalid(what: "\(options.path) cannot be written as JSON: \(error)")
    }
  }

  private static func damage(_ snapshot: QueueSnapshot) -> String {
    let path = snapshot.path
    if let salvage = snapshot.salvage {
      return "\(path) is damaged: \(salvage.what). This is what the next opening will salvage: "
        + "\(salvage.entries) entries and \(salvage.tombstones) tombstones. Nothing was changed"
    }
    let check = snapshot.check
    let places = check.entries.map { "\($0)" }.joined(separator: ", ")
    let parts = [
      check.entries.isEmpty ? nil : "the rows of the entries at the places \(places)",
      check.payloads.isEmpty ? nil : "\(check.payloads.count) payloads",
      check.tombstones.isEmpty ? nil : "\(check.tombstones.count) tombstones",
      check.pages.isEmpty ? nil : "pages (\(check.pages.joined(separator: "; ")))",
    ].compactMap { $0 }.joined(separator: ", ")
    return
      "\(path) is damaged. These have changed since they were written: \(parts). The app isolates them at "
      + "its next opening, and redelivery restores them. Nothing was changed"
  }

  private static func complaint(_ error: QueueError) -> String {
    switch error {
    case .cannotOpen(let path, let reason): "\(path) cannot be read: \(reason)"
    default: error.description
    }
  }

  private static func exitCode(_ error: QueueError) -> Int32 {
    switch error {
    case .foreignFile, .newerSchema, .damaged: ExitCode.badData
    case .cannotOpen, .busy: ExitCode.noInput
    default: ExitCode.internal
    }
  }
}
