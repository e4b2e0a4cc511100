/// Where the app is, as its engine knows, and how deep in calls the engine is. Without I/O.
///
/// ```
/// unknown ──▶ working, a background task ──▶ leaving
/// any ──▶ foreground ──▶ leaving ──▶ background ──▶ working, leaving or foreground
/// ```
///
/// In the background the file is open while a call uses it, and no longer: an open file has locks of SQLite, with which a
/// system may end a suspended app.
struct Presence {
  enum Place {
    /// Neither the system nor the app has reported anything.
    case unknown
    case foreground
    /// A background task, outside of the foreground.
    case working
    /// On the way to the background: what is in flight may end, and uses the file.
    case leaving
    case background
  }

  private(set) var place = Place.unknown
  /// How often the app came to the foreground: it ends each wait for the background.
  private(set) var foregrounds = 0
  /// Calls inside one another that use the file now.
  private var depth = 0

  /// Whether nothing new is sent.
  var isSuspended: Bool { place == .leaving || place == .background }

  /// The same, without a foreground since there were so many.
  func isSuspended(since visit: Int) -> Bool { isSuspended && visit == foregrounds }

  /// Whether an open file is to be closed now.
  var closesFile: Bool { place == .background && depth == 0 }

  // MARK: Places

  mutating func cameToForeground() { (place, foregrounds) = (.foreground, foregrounds + 1) }

  /// A background task begins. False if the app is in the foreground, where it works by itself.
  mutating func beginsWork() -> Bool {
    guard isSuspended || foregrounds == 0 else { return false }
    place = .working
    return true
  }

  mutating func leaves() { place = .leaving }

  /// What was in flight has ended.
  mutating func hasLeft() { place = .background }

  // MARK: Calls

  mutating func callBegins() { depth += 1 }
  mutating func callEnds() { depth -= 1 }
}
