import Foundation

// A member of Foundation that Linux lacks, compiled into the module that uses it. There is nothing to run.

extension ProcessInfo {
  // https://developer.apple.com/documentation/foundation/processinfo/performexpiringactivity(withreason:using:):
  // iOS 8.2, tvOS 9, watchOS 2, visionOS 1; not on macOS
  func performExpiringActivity(withReason reason: String, using block: @escaping @Sendable (Bool) -> Void) {}
}
