package import Foundation

/// The name of an installation's device at the backend, and the secret that proves the name.
///
/// The name is public: it is in the body of every upload. The secret is sent only as a credential, and no description or
/// log shows it.
package struct DeviceIdentity: Sendable, Hashable {
  /// The public name.
  package let id: UUID
  /// Never in a body, a log or an error.
  package let secret: String

  package init(id: UUID, secret: String) { (self.id, self.secret) = (id, secret) }

  /// A new identity, of two unique names.
  package init(from makeName: () -> UUID) { self.init(id: makeName(), secret: makeName().uuidString) }

  /// The one of a simulation in which all is to follow from the seed, and whose backend knows one device.
  package static var simulated: DeviceIdentity {
    DeviceIdentity(id: UUID(uuid: (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1)), secret: "simulated")
  }

  /// From the stored text; nil for a text that this version does not write.
  init?(stored text: some StringProtocol) {
    let parts = text.split(separator: ":", maxSplits: 1)
    guard parts.count == 2, let id = UUID(uuidString: String(parts[0])), !parts[1].isEmpty else { return nil }
    self.init(id: id, secret: String(parts[1]))
  }

  /// The text that file and vault hold.
  var stored: String { id.uuidString + ":" + secret }

  /// The value of `Authorization`.
  package var authorization: String { "Device " + stored }
}

extension DeviceIdentity: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
  /// The name alone.
  package var description: String { id.uuidString }
  /// The name alone.
  package var debugDescription: String { description }
  /// The name alone.
  package var customMirror: Mirror { Mirror(self, children: ["id": id]) }
}
