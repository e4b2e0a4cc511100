import Foundation

#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// The numbers through which the processes of a run agree about its clock: the time, and of each app how many requests it
/// has in flight and when its next delay ends. Each has one writer. Any thread may use it.
@safe final class ClockFile: @unchecked Sendable {
  enum Place: Equatable {
    /// In milliseconds since 1970; written by the process that runs the scenario.
    case time
    /// Of one app; written by that app.
    case requests(app: Int)
    /// The moment at which the first of its delays ends; `Int64.max` without one.
    case delay(app: Int)

    fileprivate var index: Int {
      switch self {
      case .time: 0
      case .requests(let app): 1 + 2 * app
      case .delay(let app): 2 + 2 * app
      }
    }
  }

  /// More apps than any run opens.
  static let mostApps = 2_000
  private static let size = (1 + 2 * mostApps) * MemoryLayout<Int64>.size

  let path: String
  private let numbers: UnsafeMutablePointer<Int64>

  /// A new file.
  convenience init(creating path: String) throws {
    try self.init(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC)
  }

  /// The file of another process.
  convenience init(opening path: String) throws { try self.init(path, O_RDWR | O_CLOEXEC) }

  /// Memory, and no writes: an app whose disk is full has a clock.
  private init(_ path: String, _ flags: Int32) throws {
    self.path = path
    let descriptor = unsafe open(path, flags, 0o600)
    guard descriptor >= 0 else { throw Self.error }
    defer { close(descriptor) }
    if flags & O_CREAT != 0 { guard ftruncate(descriptor, off_t(Self.size)) == 0 else { throw Self.error } }
    let memory = unsafe mmap(nil, Self.size, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0)
    guard let memory = unsafe memory, unsafe memory != MAP_FAILED else { throw Self.error }
    unsafe numbers = memory.assumingMemoryBound(to: Int64.self)
  }

  private static var error: POSIXError { POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO) }

  deinit { unsafe munmap(numbers, Self.size) }

  /// Aligned, so that no reader sees half of a number.
  subscript(place: Place) -> Int64 {
    get { unsafe numbers[place.index] }
    set { unsafe numbers[place.index] = newValue }
  }
}
