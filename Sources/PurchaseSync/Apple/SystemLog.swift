#if canImport(os)
  import PurchaseQueue
  import os

  extension SyncConfiguration {
    /// Writes each log record to the system's log, and each interval of work as a signpost, for Console and Instruments.
    ///
    /// Only the name of an event is public in the log. Its text and its transactions are private: the system hides them
    /// unless a developer is attached. It replaces ``log`` and ``intervals``.
    ///
    /// - Parameters:
    ///   - subsystem: The app's reverse domain name, such as its bundle id.
    ///   - category: The category below it.
    public mutating func logToSystem(subsystem: String, category: String = "purchases") {
      let logger = Logger(subsystem: subsystem, category: category)
      log = { record in
        let details = (record.keys.map(\.rawValue) + [record.text]).joined(separator: " ")
        logger.log(
          level: record.level.system, "\(record.name, privacy: .public) \(details, privacy: .private)")
      }
      let signposter = OSSignposter(subsystem: subsystem, category: category)
      intervals = { Self.begin($0, signposter) }
    }

    /// The name of a signpost has to be a literal.
    private static func begin(
      _ name: SyncMeasurement.Name, _ signposter: OSSignposter
    ) -> @Sendable () -> Void {
      func interval(_ name: StaticString) -> @Sendable () -> Void {
        let id = signposter.makeSignpostID().rawValue
        _ = signposter.beginInterval(name, id: OSSignpostID(id))
        // The state follows from the id, and need not be sent to the thread where the interval ends.
        return { signposter.endInterval(name, .beginState(id: OSSignpostID(id))) }
      }
      switch name {
      case .receive: return interval("receive")
      case .upload: return interval("upload")
      case .listing: return interval("listing")
      case .finish: return interval("finish")
      default: return interval("other")
      }
    }
  }

  extension SyncLogRecord.Level {
    fileprivate var system: OSLogType {
      switch self {
      case .debug: .debug
      case .info: .info
      case .warning: .default
      case .error: .error
      }
    }
  }
#endif
