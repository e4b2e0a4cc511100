#if canImport(StoreKit)
  #if canImport(UIKit)
    import Foundation
    import StoreKit
    import UIKit

    /// The scenes of the app, as their notifications tell. An extension has none, and a store that was made after a scene became
    /// active learns of it when the user turns to it next.
    @MainActor final class AppScenes {
      static let shared = AppScenes()

      private var order = SceneOrder<ObjectIdentifier>()
      private var scenes: [ObjectIdentifier: Scene] = [:]
      private var observers: [any NSObjectProtocol] = []

      private struct Scene {
        weak var scene: UIScene?
      }

      /// The scene for a sheet; nil if none is known.
      var front: UIScene? { order.front.flatMap { scenes[$0]?.scene } }

      /// Begins to listen. A second call changes nothing.
      func watch() {
        guard observers.isEmpty else { return }
        listen(to: UIScene.didActivateNotification) { scenes, scene in scenes.turnedTo(scene) }
        listen(to: UIScene.didEnterBackgroundNotification) { scenes, scene in scenes.leftScreen(scene) }
        listen(to: UIScene.didDisconnectNotification) { scenes, scene in scenes.leftScreen(scene) }
      }

      /// Notifications of scenes are posted on the main thread.
      private func listen(
        to name: Notification.Name, _ act: @escaping @MainActor @Sendable (AppScenes, UIScene) -> Void
      ) {
        let observer = NotificationCenter.default.addObserver(forName: name, object: nil, queue: .main) {
          note in
          let scene = note.object as? UIScene
          MainActor.assumeIsolated {
            if let scene { act(AppScenes.shared, scene) }
          }
        }
        observers.append(observer)
      }

      private func turnedTo(_ scene: UIScene) {
        scenes[ObjectIdentifier(scene)] = Scene(scene: scene)
        order.turnedTo(ObjectIdentifier(scene))
      }

      private func leftScreen(_ scene: UIScene) {
        scenes[ObjectIdentifier(scene)] = nil
        order.leftScreen(ObjectIdentifier(scene))
      }
    }

    @available(iOS 17, macOS 14, *)
    extension StoreKitStore {
      /// StoreKit's sheet in a scene.
      @MainActor static func purchase(
        _ product: Product, in scene: UIScene, _ options: Set<Product.PurchaseOption>
      ) async throws -> Product.PurchaseResult {
        try await product.purchase(confirmIn: scene, options: options)
      }
    }
  #endif
#endif
