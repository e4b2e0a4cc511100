public import Foundation
import PurchaseQueue
public import PurchaseSync
import VirtualTime

/// One launch of the app on a ``LabPhone``: what a shop needs.
public struct LabApp: Sendable {
  let phone: LabPhone
  let process: Int
  /// Which of the phone's launches it is.
  let launch: Int
  let folder: String

  /// The folder of the app's files. Ask for it in each launch.
  public var directory: String { folder + "/app" }

  /// The configuration of a shop or an engine: its file, a vault, and the lab's time.
  public var configuration: SyncConfiguration {
    let phone = self.phone
    var configuration = SyncConfiguration(
      path: directory + "/purchases.sqlite", vault: DirectoryVault(directory: folder + "/vault"),
      appVersion: "1", now: { phone.now })
    configuration.system = phone.lab.system()
    let launch = self.launch
    configuration.system.sight = { phone.saw($0, in: launch) }
    return configuration
  }

  /// The store on this phone.
  public var store: MockStoreClient {
    let phone = self.phone
    return MockStoreClient(network: LabNetwork(app: self), device: phone.name, lie: { phone.nextLie() })
  }

  /// The way to the backend: the mock backend under `/v1`, and the paths of ``AppLab/serve(_:_:)``.
  public var backend: some BackendTransport { LabNetwork(app: self) }

  /// The phone's wall clock.
  public var now: Date { phone.now.date }

  /// The app is killed now. Never returns.
  public func die() async {
    phone.lab.queue.kill(process)
    await phone.lab.queue.never()
  }
}
