import FoundationEssentials

/// Shows how Foundation's readers of JSON and of property lists handle bad input: the reason for the project's own
/// readers. `Tests/Fuzz/foundation` compiles this and starts it once for each case, because one case ends the process.
@main struct FoundationLimits {
  /// Decodes any value and ignores it.
  private struct Value: Decodable {
    init(from decoder: any Decoder) throws { _ = try decoder.singleValueContainer() }
  }

  static func main() {
    switch CommandLine.arguments.dropFirst().first {
    case "xml": decode("<plist version=\"1.0\"><dict><key>a</key>", "<array>", "</array>", "</dict></plist>")
    case "text": decode("{ a = ", "(", ")", "; }")
    case "names": names()
    case "digits": digits()
    default: print("xml text names digits")
    }
  }

  /// A property list of 10,000 levels.
  private static func decode(_ start: String, _ open: String, _ close: String, _ end: String) {
    let text =
      start + String(repeating: open, count: 10_000) + String(repeating: close, count: 10_000) + end
    do {
      let list = try PropertyListDecoder().decode([String: Value].self, from: Data(text.utf8))
      print("decoded, \(list.count) fields")
    } catch {
      print("refused")
    }
  }

  /// Of equal names, Apple's service takes the last one (StoreFacts a.1).
  private static func names() {
    do {
      let object = try JSONDecoder().decode([String: Int].self, from: Data(#"{"a":1,"a":2}"#.utf8))
      print("of equal names the \(object["a"] == 2 ? "last" : "first") counts")
    } catch {
      print("equal names are refused")
    }
  }

  /// An unknown number must keep its digits.
  private static func digits() {
    let number = "18446744073709551617.5"
    do {
      let values = try JSONDecoder().decode([Double].self, from: Data("[\(number)]".utf8))
      print("\(number) becomes \(values.first ?? 0)")
    } catch {
      print("\(number) is refused")
    }
  }
}
