/// In which of the app's scenes a payment sheet is shown: the one that the user turned to last, and that is still there.
///
/// ```
///              turnedTo             leftScreen, or it is gone
///   unknown ──────────────▶ known ─────────────────────────────▶ unknown
/// ```
///
/// A scene that only lost the focus, as when a system's dialog is over it, stays known: the sheet belongs there all the same.
struct SceneOrder<ID: Hashable> {
  /// The one that the user turned to last comes last.
  private var known: [ID] = []

  /// The scene for a sheet; nil if none is known.
  var front: ID? { known.last }

  /// The user turned to a scene.
  mutating func turnedTo(_ scene: ID) {
    leftScreen(scene)
    known.append(scene)
  }

  /// A scene went to the background, or is gone.
  mutating func leftScreen(_ scene: ID) { known.removeAll { $0 == scene } }
}
