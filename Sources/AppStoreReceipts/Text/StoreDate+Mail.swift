extension StoreDate {
  /// The RFC 3339 form of a date of RFC 1123, `Tue, 07 Mar 2017 14:21:49 GMT`; nil for any other text. The day
  /// of the week may be absent, and is not compared with the date. The zone is Greenwich or an offset.
  static func internetForm(ofMail text: String) -> String? {
    guard 20...40 ~= text.utf8.count else { return nil }
    var parts = text.split(separator: " ")
    if let first = parts.first, first.last == "," {
      guard weekdays.contains(String(first.dropLast())) else { return nil }
      parts.removeFirst()
    }
    guard parts.count == 5, let month = months.firstIndex(of: String(parts[1])),
      1...2 ~= parts[0].utf8.count, let zone = zone(parts[4])
    else { return nil }
    return
      "\(parts[2])-\(twoDigits(month + 1))-\(parts[0].utf8.count == 1 ? "0" : "")\(parts[0])T\(parts[3])\(zone)"
  }

  private static let weekdays = ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"]
  private static let months = [
    "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
  ]

  private static func twoDigits(_ number: Int) -> String { number < 10 ? "0\(number)" : "\(number)" }

  private static func zone(_ text: Substring) -> String? {
    if ["GMT", "UTC", "UT", "Z"].contains(text) { return "Z" }
    return text.first == "+" || text.first == "-" ? String(text) : nil
  }
}
