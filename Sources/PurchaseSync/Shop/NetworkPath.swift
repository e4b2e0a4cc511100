import PurchaseSQLite

#if canImport(Network)
  import Dispatch
  import Network
#endif

/// Reports when the network comes back: what waits is then tried at once, and not at the end of its backoff.
struct NetworkPath: Sendable {
  /// Follows the network until the returned function is called. Passes the name of the network interface in use, or nil
  /// without a network: once for the present, and after each change. One call at a time, on a thread of its own.
  typealias Monitor =
    @Sendable (_ changed: @escaping @Sendable (String?) -> Void) -> @Sendable () -> Void

  /// An element each time when there is a network again, or another one. Elements that are not read in time are one.
  /// Without a monitor it ends at once. A reader that stops ends the monitor.
  let returns: AsyncStream<Void>

  /// - Parameter monitor: The system's, unless a test replaces it; nil where the system has none.
  init(_ monitor: Monitor? = Self.system) {
    returns = AsyncStream(bufferingPolicy: .bufferingNewest(1)) { returns in
      guard let monitor else { return returns.finish() }
      let watch = Locked(NetworkWatch())
      let stop = monitor { interface in
        if watch.withLock({ $0.isBack(on: interface) }) { returns.yield() }
      }
      returns.onTermination = { _ in stop() }
    }
  }

  #if canImport(Network)
    /// `NWPathMonitor`, which needs no permission and sends nothing. A network need not reach the backend.
    static let system: Monitor? = { changed in
      let monitor = Locked(NWPathMonitor())
      monitor.withLock { monitor in
        monitor.pathUpdateHandler = { path in
          changed(path.status == .satisfied ? path.availableInterfaces.first?.name ?? "" : nil)
        }
        monitor.start(queue: DispatchQueue(label: "PurchaseSync.network"))
      }
      return { monitor.withLock { $0.cancel() } }
    }
  #else
    static let system: Monitor? = nil
  #endif
}

/// Decides which changes of the network are a return.
struct NetworkWatch: Sendable {
  private var isFirst = true
  private var last: String?

  /// Whether requests that failed before may succeed now: there is a network after there was none, or another one, such
  /// as the mobile network after a Wi-Fi with a captive portal. The first call reports the present only.
  mutating func isBack(on interface: String?) -> Bool {
    defer { (isFirst, last) = (false, interface) }
    return !isFirst && interface != nil && interface != last
  }
}
