import Testing

@testable import PurchaseSQLite

/// What a connection calls durable: a broken frame before that end is taken for damage.
@Suite struct LogSyncsTests {
  private static let salts: UInt64 = 0x0102_0304_0506_0708
  private static let pageSize: Int64 = 4096

  /// A log with one commit that is durable, and one whose sync is deferred.
  private struct Log {
    var syncs = LogSyncs()
    var end: Int64 = 32

    init() {
      var header = [UInt8](repeating: 0, count: 32)
      for place in 0..<8 { header[16 + place] = UInt8(place + 1) }
      unsafe header.withUnsafeBytes { unsafe syncs.wrote($0, at: 0) }
      write(isCommit: true)
      syncs.synced { LogSyncsTests.salts }
      syncs.mayDefer = true
      write(isCommit: true)
    }

    mutating func write(isCommit: Bool) {
      var frame = [UInt8](repeating: 0, count: 24)
      frame[7] = isCommit ? 9 : 0
      unsafe frame.withUnsafeBytes { unsafe syncs.wrote($0, at: end) }
      let page = [UInt8](repeating: 0, count: Int(LogSyncsTests.pageSize))
      unsafe page.withUnsafeBytes { unsafe syncs.wrote($0, at: end + 24) }
      end += 24 + LogSyncsTests.pageSize
    }
  }

  /// - Parameter isCommit: false for pages that did not fit into the cache, and whose transaction was rolled back; true
  ///   for a commit that could not be synced.
  @Test(arguments: [false, true])
  func `frames that the next commit overwrites are not called durable`(isCommit: Bool) {
    var log = Log()
    let isDeferred = log.syncs.defers()
    #expect(isDeferred)
    log.syncs.deferred()
    let end = log.end
    log.write(isCommit: isCommit)
    log.syncs.dropCommit()
    log.syncs.synced { Self.salts }
    #expect(log.syncs.durable == LogNote(salts: Self.salts, end: end))
  }

  @Test func `a commit whose deferred sync could not be written is not called durable`() {
    var log = Log()
    let isDeferred = log.syncs.defers()
    #expect(isDeferred)
    log.syncs.dropCommit()
    log.syncs.synced { Self.salts }
    #expect(log.syncs.durable.end == 32 + 24 + Self.pageSize)
  }

  @Test func `a commit is called durable with its sync`() {
    var log = Log()
    log.syncs.synced { Self.salts }
    #expect(log.syncs.durable == LogNote(salts: Self.salts, end: log.end))
  }
}
