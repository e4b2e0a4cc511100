package import Foundation

/// A device that has shown its secret. A real backend keeps a hash of the secret.
package struct DeviceRecord: Sendable, Hashable {
  /// The public name.
  package var device: UUID
  /// The secret that came with the name the first time.
  package var secret: String
}

extension BackendModel {
  /// Checks the secret of a device. The first one that comes with a name is bound to it; any other one is refused from
  /// then on.
  package mutating func admit(_ device: UUID, secret: String) throws(BackendModelError) -> [BackendWrite] {
    if let known = devices[device] {
      guard known == secret else { throw .deviceSecret }
      return []
    }
    let record = DeviceRecord(device: device, secret: secret)
    apply(.device(record))
    return [.device(record)]
  }
}
