import BackendConformance
import CommandLineTools
import Foundation
import PurchaseSync
import PurchaseSyncTesting

extension ConformanceSite {
  /// The backend and the store of these options; the exchanges show neither tokens nor proofs.
  init(_ options: ConformanceOptions) throws {
    func transport(_ text: String, responseBytes: Int) throws -> URLSessionTransport {
      guard let url = URL(string: text) else {
        throw UsageError(message: "\(text) is not a URL")
      }
      return URLSessionTransport(base: url, timeout: 20, responseBytes: responseBytes)
    }
    // The routes of the store have its name in their paths.
    let store = options.store.map { $0.hasSuffix("/store") ? String($0.dropLast(6)) : $0 } ?? options.backend
    self.init(
      backend: try transport(options.backend, responseBytes: 16 << 20),
      store: try transport(store, responseBytes: 64 << 20),
      tokens: (options.token, options.otherToken),
      describe: { body, json in
        ConformanceText.shortened(body, json, without: [options.token, options.otherToken])
      })
    accounts = options.accounts
    product = options.product
    lag = .milliseconds(options.lag)
    if let command = options.restart { restart = RestartCommand(command: command, backend: backend).run }
  }
}

extension ConformanceLab {
  init(_ options: ConformanceOptions) throws { self.init(try ConformanceSite(options)) }

  /// The lab of these options; without a store that does not answer, and then with a message about that.
  static func reaching(_ options: ConformanceOptions) async throws -> (ConformanceLab, notice: String?) {
    var site = try ConformanceSite(options)
    let lab = ConformanceLab(site)
    do {
      _ = try await lab.allProducts()
      return (lab, nil)
    } catch is ConformanceFailure {
      site.store = nil
      let url = options.store ?? options.backend + "/store"
      return (ConformanceLab(site), "there is no mock store at \(url), so some checks cannot be made")
    }
  }
}
