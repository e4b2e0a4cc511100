import Foundation
import PurchaseSync
import StoreKit
import SwiftUI

// MARK: begin
/// A button that sells, one that restores, and what becomes of each purchase.
struct GemShop: View {
  let shop: Shop
  let account: String
  @State private var status = ShopStatus()
  @State private var message = ""

  var body: some View {
    List {
      Button("Buy 100 gems") {
        Task { message = await text { try await shop.purchase("gems.100", for: account).message } }
      }
      Button("Restore purchases") {
        Task { message = await text { "Restored: \(try await shop.restore(for: account).count)" } }
      }
      Text(message)
      ForEach(status.purchases.filter { $0.account == account }) { purchase in
        LabeledContent(purchase.productID ?? "A purchase", value: purchase.stage.text)
      }
    }
    .task { for await status in await shop.statuses() { self.status = status } }
  }

  private func text(_ call: () async throws -> String) async -> String {
    do { return try await call() } catch { return error.localizedDescription }
  }
}
// MARK: end

@main struct GemApp: App {
  private let shop: Shop

  init() {
    guard let api = URL(string: "https://shop.example/") else { preconditionFailure("no address") }
    shop = Shop(
      store: StoreKitStore(), backend: URLSessionTransport(base: api),
      credentials: { request in "the bearer token of \(request.account)" }, fulfil: { _ in })
  }

  var body: some Scene {
    WindowGroup { GemShop(shop: shop, account: "alice") }
  }
}
