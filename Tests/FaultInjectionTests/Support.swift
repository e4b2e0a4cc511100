/// Ends the process of an exit test unless this holds.
func demand(_ holds: Bool, line: UInt = #line) {
  guard holds else { preconditionFailure("line \(line)") }
}
