import Testing

/// One breach of a rule, with its place.
struct Finding: Hashable, Sendable, CustomStringConvertible {
  var path: String
  var line: Int?
  var message: String

  var description: String { path + (line.map { ":\($0)" } ?? "") + ": " + message }
}

/// Fails the test once for each finding, so that all of them are listed.
func expectNone(_ findings: [Finding], sourceLocation: SourceLocation = #_sourceLocation) {
  for finding in findings {
    Issue.record(Comment(rawValue: finding.description), sourceLocation: sourceLocation)
  }
}
