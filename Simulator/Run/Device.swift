import Foundation
import ProcessFaults
import PurchaseQueue
import PurchaseSync
import ScenarioFormat

/// The files of a simulated phone, and the backend's file next to them.
struct Device: Sendable {
  /// The phone's name in the scenario and in the store.
  let name: String
  let directory: String
  /// The app's folder: removed when the app is deleted.
  let container: String
  /// The keychain's area: it survives the deletion of the app.
  let keychain: String
  /// The backend's file.
  let environment: String
  private let backup: String

  init(below directory: String) throws {
    try self.init(Scenario.phone, below: directory, environment: directory + "/environment.sqlite")
  }

  private init(_ name: String, below directory: String, environment: String) throws {
    self.name = name
    self.directory = directory
    container = directory + "/container"
    keychain = directory + "/keychain"
    self.environment = environment
    backup = directory + "/backup"
    try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
  }

  /// Another phone of the same run, with files of its own.
  func phone(_ name: String) throws -> Device {
    name == self.name ? self : try Device(name, below: directory + "/" + name, environment: environment)
  }

  /// Copies the app's folder to another phone, as the backup of a phone is restored on a new one. The keychain stays.
  func clone(to other: Device) throws {
    try other.reinstall()
    guard FileManager.default.fileExists(atPath: container) else { return }
    try FileManager.default.copyItem(atPath: container, toPath: other.container)
  }

  /// The app's queue.
  static func queue(in container: String) -> String { container + "/queue.sqlite" }

  /// How far the person has set the phone's clock. The deletion of the app does not change it.
  static func clock(beside container: String) -> String { container + "-clock" }

  /// Deletes the app and installs it again.
  func reinstall() throws {
    guard FileManager.default.fileExists(atPath: container) else { return }
    try FileManager.default.removeItem(atPath: container)
  }

  /// Copies the app's folder.
  func backUp() throws {
    if FileManager.default.fileExists(atPath: backup) { try FileManager.default.removeItem(atPath: backup) }
    guard FileManager.default.fileExists(atPath: container) else { return }
    try FileManager.default.copyItem(atPath: container, toPath: backup)
  }

  /// Restores the app's folder from its backup; without a backup it is as after an installation.
  func restore() throws {
    try reinstall()
    guard FileManager.default.fileExists(atPath: backup) else { return }
    try FileManager.default.copyItem(atPath: backup, toPath: container)
  }

  /// Rewrites the queue's file in the first version of its schema. Other clients have one version only.
  func rewriteAsEarlierVersion() throws {
    let path = Self.queue(in: container)
    if FileManager.default.fileExists(atPath: path) { try EarlierFile.rewrite(path) }
  }

  /// Overwrites bytes of the file that the app keeps, for any client.
  func damage(_ place: EnvironmentStep.Damage) throws {
    for path in [
      Self.queue(in: container), DefaultsList.path(in: container), SegmentRule.path(in: container),
    ]
    where FileManager.default.fileExists(atPath: path) {
      var data = try Data(contentsOf: URL(fileURLWithPath: path))
      let range =
        switch place {
        case .header: 0..<min(100, data.count)
        case .page: data.count / 2..<min(data.count / 2 + 1_024, data.count)
        }
      data.replaceSubrange(range, with: Data(repeating: 0xA5, count: range.count))
      try data.write(to: URL(fileURLWithPath: path))
    }
  }

  /// The ids of the transactions that any phone of a scenario still holds.
  func kept(onPhonesOf scenario: Scenario) throws -> Set<String> {
    try scenario.phones.reduce(into: []) { kept, name in kept.formUnion(try phone(name).kept()) }
  }

  /// The ids of the transactions that the phone still holds: in the queue and the vault, or in the list of a client that
  /// keeps one. Read after the app has ended.
  func kept() throws -> Set<String> {
    var kept: Set<String> = []
    let prefix = "entry."
    for name in try DirectoryVault(directory: keychain).list() where name.hasPrefix(prefix) {
      kept.insert(Self.id(String(name.dropFirst(prefix.count))))
    }
    let path = Self.queue(in: container)
    if FileManager.default.fileExists(atPath: path) {
      let queue = try QueueFile(path: path, now: Timestamp.wallClock())
      for entry in try queue.allEntries() { kept.insert(Self.id(entry.key.rawValue)) }
    }
    for path in [
      DefaultsList.path(in: container), KeychainList.path(in: keychain), SegmentRule.path(in: container),
    ] {
      for upload in UnsentFile.read(path) { kept.insert(upload.transactionID) }
    }
    return kept
  }

  private static func id(_ key: String) -> String { String(key.drop { $0 != "/" }.dropFirst()) }
}
