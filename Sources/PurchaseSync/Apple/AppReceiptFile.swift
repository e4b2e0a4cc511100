import PurchaseSQLite

#if canImport(StoreKit)
  import Foundation
#endif

/// The file in which the system stores the app receipt.
package struct AppReceiptFile: Sendable {
  /// The longest receipt that is read, in bytes. An upload is at most 16 MiB in base64, so a larger receipt
  /// could not be sent.
  static let largest = 12 << 20

  private let path: String?

  /// Pass nil if the system names no file.
  package init(path: String?) { self.path = path }

  /// The current bytes; nil if there is no file, or an empty one. Neither fetches nor prompts. The read
  /// blocks a thread outside the cooperative pool, never the main thread.
  package func read() async throws -> [UInt8]? {
    guard let path else { return nil }
    return try await BlockingExecutor.offThePool { Self.contents(path) }.get()
  }

  private static func contents(_ path: String) -> Result<[UInt8]?, StoreError> {
    do throws(FileError) {
      guard try Disk.system.kind(of: path) == .file else { return .success(nil) }
      let bytes = try Disk.system.read(path, from: 0, count: largest + 1)
      guard bytes.count <= largest else {
        return .failure(.receiptUnreadable(reason: "it has more than \(largest) bytes"))
      }
      return .success(bytes.isEmpty ? nil : bytes)
    } catch {
      return .failure(.receiptUnreadable(reason: error.description))
    }
  }
}

#if canImport(StoreKit)
  extension AppReceiptFile {
    /// The receipt of this app. On iOS its name is `sandboxReceipt` if nothing is charged, otherwise
    /// `receipt`.
    static var ofThisApp: AppReceiptFile { AppReceiptFile(path: Bundle.main.appStoreReceiptURL?.path) }
  }
#endif
