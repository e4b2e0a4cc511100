#if canImport(Observation)
  public import Observation

  /// The status of a shop for SwiftUI: a view that reads `status` is drawn again when it changes.
  @available(iOS 17, macOS 14, *)
  @MainActor @Observable public final class ShopModel {
    /// The newest status.
    public private(set) var status = ShopStatus()

    @ObservationIgnored private var watching: Task<Void, Never>?

    /// Follows the shop until the model is released.
    public init(_ shop: Shop) {
      watching = Task { [weak self] in
        for await status in await shop.statuses() {
          guard let self else { return }
          self.status = status
        }
      }
    }

    deinit { watching?.cancel() }
  }
#endif
