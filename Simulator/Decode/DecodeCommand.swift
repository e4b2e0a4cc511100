import AppStoreDocuments
import AppStoreReceipts
import CommandLineTools
import Foundation
import PurchaseQueue

/// `decode`: prints the kind and the content of a file. Decodes, and verifies nothing.
struct DecodeCommand {
  let options: DecodeOptions

  func execute() -> Int32 {
    let input: [UInt8]
    do {
      input = try read()
    } catch is DirectoryFound {
      Terminal.complain("\(name) is a directory; decode takes one file")
      return ExitCode.noInput
    } catch {
      Terminal.complain("\(name) cannot be read: \(error.localizedDescription)")
      return ExitCode.noInput
    }
    do throws(ReceiptDecodingError) {
      let document = try StoreDocument(decoding: input)
      let now = options.moment ?? .wallClock()
      let statuses = SubscriptionStatus.all(in: document.subscriptionFacts, at: now.milliseconds)
      Terminal.line(
        options.json
          ? DecodeReport(document, subscriptions: statuses).json.text
          : DecodeText(document, subscriptions: statuses).text)
      return ExitCode.ok
    } catch {
      if options.json { Terminal.line(DecodeReport(error).json.text) }
      Terminal.complain("\(name) is \(error)")
      return ExitCode.badData
    }
  }

  private struct DirectoryFound: Error {}

  private var name: String { options.path == "-" ? "standard input" : options.path }

  /// Reads at most one byte more than can be decoded, so that the decoder reports a file that is too large.
  private func read() throws -> [UInt8] {
    if options.path != "-", URL(fileURLWithPath: options.path).isDirectory { throw DirectoryFound() }
    let most = StoreDocument.maximumByteCount + 1
    let file: FileHandle
    if options.path == "-" {
      file = .standardInput
    } else {
      file = try FileHandle(forReadingFrom: URL(fileURLWithPath: options.path))
    }
    var bytes: [UInt8] = []
    while bytes.count < most, let part = try file.read(upToCount: min(1 << 20, most - bytes.count)),
      !part.isEmpty
    {
      bytes += part
    }
    return bytes
  }
}

extension URL {
  /// False also for a path with nothing at it: reading it says what is wrong.
  fileprivate var isDirectory: Bool {
    do {
      return try resolvingSymlinksInPath().resourceValues(forKeys: [.isDirectoryKey]).isDirectory == true
    } catch {
      return false
    }
  }
}
