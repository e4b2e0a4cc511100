import FoundationEssentials

/// Why the readers of JSON and of property lists are this project's own: shows what Foundation's do with bad input.
/// `Tests/Fuzz/foundation` compiles it and starts it once for each case, since one of them ends the process.
@main struct FoundationLimits {
  /// Anything, without looking at it.
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

  /// Apple's service takes the last of equal names (receipt-facts.md a.1).
  private static func names() {
    do {
      let object = try JSONDecoder().decode([String: Int].self, from: Data(#"{"a":1,"a":2}"#.utf8))
      print("of equal names the \(object["a"] == 2 ? "last" : "first") counts")
    } catch {
      print("equal names are refused")
    }
  }

  /// An unknown number has to be kept as it was written.
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
