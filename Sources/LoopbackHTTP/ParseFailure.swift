/// Why a request is refused: the status of the answer, and a sentence for its `detail`.
package struct ParseFailure: Error, Equatable {
  package let status: Int
  /// Always one of this module's own words, never the client's bytes: it goes into JSON unescaped.
  package let reason: String

  init(_ status: Int, _ reason: String) {
    self.status = status
    self.reason = reason
  }
}
