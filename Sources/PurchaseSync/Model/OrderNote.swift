import PurchaseQueue

/// What the app gives at `begin` and gets back with the order and its outcome. It goes with the wish, the order's row and
/// the vault as one value, which none of them reads: a new field of it is declared here, and is given and shown where apps
/// see it.
package struct OrderNote: Sendable, Hashable, Codable {
  /// Nil if the app gave none.
  var context: PurchaseContext?

  package init(context: PurchaseContext? = nil) { self.context = context }

  /// From the row of an order. What cannot be read costs the note, never the order.
  init(_ text: String?) { self = text.flatMap { Self(json: $0.utf8) } ?? Self() }

  /// For the row of an order; nil if there is nothing to keep.
  func text() throws(QueueError) -> String? {
    self == Self() ? nil : try jsonText(of: "the note of an order")
  }

  /// Throws if a value is longer than it may be.
  func check() throws(SyncError) {
    if let bytes = context?.text.utf8.count, bytes > PurchaseContext.longest {
      throw .encoding(what: "a context of \(bytes) bytes, of \(PurchaseContext.longest) at most,")
    }
  }
}

/// What an app wants to know again when a purchase is delivered: the paywall, the offer, the experiment.
///
/// It is kept with the order and comes back with its outcome, also after a deferred payment and after a reinstall. The
/// engine does not read it and does not send it. Its description does not show the text, so that no log does.
public struct PurchaseContext: Sendable, Hashable, Codable, ExpressibleByStringLiteral {
  /// The most bytes of UTF-8.
  public static let longest = 1_024

  /// The app's text.
  public var text: String

  /// A context. `begin` refuses a text of more than ``longest`` bytes.
  public init(_ text: String) { self.text = text }
  /// A context from a literal.
  public init(stringLiteral value: String) { self.init(value) }

  /// The text alone.
  public init(from decoder: any Decoder) throws {
    text = try decoder.singleValueContainer().decode(String.self)
  }

  /// The text alone.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(text)
  }
}

extension PurchaseContext: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
  /// The size, never the text.
  public var description: String { "a context of \(text.utf8.count) bytes" }
  /// The size, never the text.
  public var debugDescription: String { description }
  /// No children, so that no dump shows the text.
  public var customMirror: Mirror { Mirror(self, children: [:]) }
}
