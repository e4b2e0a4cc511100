import PurchaseSQLite

#if canImport(StoreKit)
  import Foundation
#endif

/// The file into which the system puts the app receipt.
package struct AppReceiptFile: Sendable {
  /// Larger than any receipt that a backend could be sent: 16 MiB, base64, is the limit of an upload.
  static let largest = 12 << 20

  private let path: String?

  /// Nil where the system names no file.
  package init(path: String?) { self.path = path }

  /// The bytes as they are now; nil if there is no file, or nothing in it. Neither fetches nor prompts. The disk is
  /// waited for outside the cooperative pool, and never on the main thread.
  package func read() async throws -> [UInt8]? {
    guard let path else { return nil }
    return try await BlockingExecutor.offThePool { Self.contents(path) }.get()
  }

  private static func contents(_ path: String) -> Result<[UInt8]?, StoreError> {
    do throws(FileError) {
      guard try DurableFile.kind(of: path) == .file else { return .success(nil) }
      let bytes = try DurableFile.read(path, from: 0, count: largest + 1)
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
    /// The receipt of this app. On iOS its name is `sandboxReceipt` where nothing is charged, else `receipt`.
    static var ofThisApp: AppReceiptFile { AppReceiptFile(path: Bundle.main.appStoreReceiptURL?.path) }
  }
#endif
