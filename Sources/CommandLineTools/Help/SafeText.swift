/// Text of a file for a terminal.
package enum SafeText {
  /// Replaces control characters, except line breaks.
  package static func shown(_ text: String) -> String {
    String(String.UnicodeScalarView(text.unicodeScalars.map(safe)))
  }

  private static func safe(_ scalar: Unicode.Scalar) -> Unicode.Scalar {
    if scalar == "\n" { return scalar }
    switch scalar.properties.generalCategory {
    case .control, .format, .lineSeparator, .paragraphSeparator: return "?"
    default: return scalar
    }
  }
}
