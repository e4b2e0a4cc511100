import AppStoreReceipts

/// What a lenient reader of one document leaves out, and names: the unreadable parts, and the unknown members.
///
/// Only ``StoreDocument`` reads leniently, to show the rest of a document. A decoder of one kind is strict: a
/// backend that judges by its result must not miss a purchase or a refund.
final class DocumentFindings: JSONFindings {
  /// The unreadable parts, each with its place; at most ``StoreDocument/maximumUndecodable``.
  private(set) var failures: [ReceiptDecodingError] = []
  /// The unknown members, each kind once: of "in_app[0].x" and "in_app[1].x" only "in_app[].x"; at most
  /// ``StoreDocument/maximumUnknownMembers``.
  private(set) var unknown: [StoreDocument.UnknownMember] = []
  private var known: Set<String> = []
  /// The kind of the document, once it is recognised.
  var kind: StoreDocument.Kind?

  /// Takes the error of one part. Returns false if the document as a whole has to be refused: it is too large
  /// or too deep.
  func takes(_ error: ReceiptDecodingError) -> Bool {
    guard error.reason != .tooLarge, error.reason != .tooDeep else { return false }
    if failures.count < StoreDocument.maximumUndecodable { failures.append(error) }
    return true
  }

  /// Takes the name of an unknown member of the object at `path`.
  func takeUnknown(_ name: String, in path: String) {
    guard unknown.count < StoreDocument.maximumUnknownMembers else { return }
    let member = StoreDocument.UnknownMember(name, in: path, of: kind)
    if known.insert(member.path).inserted { unknown.append(member) }
  }
}
