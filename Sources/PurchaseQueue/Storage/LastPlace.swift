/// The last place that was given, kept over a salvage. A place is never given twice, even if its entry is settled: an
/// adoption of the device's purchases covers all entries up to a place.
enum LastPlace {
  static let fact = "last_place"
}
