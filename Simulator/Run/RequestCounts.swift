import CommandLineTools
import PurchaseSyncTesting

/// How many requests a run took, as the parent's servers counted them.
struct RequestCounts: Hashable {
  /// Uploads of purchases to the backend.
  var uploads: Int
  /// Calls that report finished transactions to the store.
  var finishes: Int
  /// Lists of the unfinished transactions. The app's own look at the end is one of them.
  var listings: Int

  init(_ environment: MockSnapshot) {
    uploads = environment.requests["POST /v1/receipts"] ?? 0
    finishes = environment.requests["POST /store/finish"] ?? 0
    listings = environment.requests["GET /store/unfinished"] ?? 0
  }

  /// `17 uploads, 17 finishes, 3 listings`.
  var words: String {
    [
      Counted.text(uploads, "upload"), Counted.text(finishes, "finish", "finishes"),
      Counted.text(listings, "listing"),
    ].joined(separator: ", ")
  }
}
