/// Where a lenient reader of one document names what it leaves out. A strict reader has none.
package protocol JSONFindings: AnyObject {
  /// Takes the error of one part. Returns false if the document as a whole has to be refused: it is too large
  /// or too deep.
  func takes(_ error: ReceiptDecodingError) -> Bool
  /// Takes the name of an unknown member of the object at `path`.
  func takeUnknown(_ name: String, in path: String)
}
