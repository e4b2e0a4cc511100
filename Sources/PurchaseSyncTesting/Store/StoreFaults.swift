/// What the model of the store does wrong. A finish that fails, hangs or loses its answer is a `FaultPlan` of the path
/// `/store/finish`.
public struct StoreFaults: Sendable, Hashable {
  /// How many of the next purchases the app receipt does not hold at first.
  public var lackedPurchases = 0
  /// For how many readings it does not hold each of them; nil: until it is refreshed.
  public var lackingReadings: Int? = 1
  /// How many of the next refreshes fail. They prompt all the same.
  public var failingRefreshes = 0
  /// A refresh so many milliseconds after the last one prompts and changes nothing: the store throttles.
  public var refreshIntervalMilliseconds: Int64 = 0
  /// How often each transaction stands in a listing.
  public var listingCopies = 1
  /// Whether finishing again answers `notListed`, as an adapter does that looks into the store's present list.
  public var forgetsFinished = false

  /// Nothing goes wrong.
  public init() {}
}
