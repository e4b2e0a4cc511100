#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

extension Decodable {
  /// Nil if the bytes are not the JSON of a value: what a file or a vault holds is not trusted.
  package init?(json bytes: some Sequence<UInt8>) {
    do {
      self = try JSONDecoder().decode(Self.self, from: Data(bytes))
    } catch {
      return nil
    }
  }
}

extension Encodable {
  /// Equal values have equal bytes. Otherwise the order of the keys differs from process to process.
  package func json() throws -> [UInt8] {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys]
    return Array(try encoder.encode(self))
  }

  /// As text for a row. `what` says in an error what cannot be written.
  package func jsonText(of what: @autoclosure () -> String) throws(QueueError) -> String {
    do {
      return String(decoding: try json(), as: UTF8.self)
    } catch {
      throw .invalid(what: "\(what()) cannot be written as JSON")
    }
  }
}
