/// A layer around a document.
public enum DocumentWrapping: String, Sendable, Hashable {
  /// Base64, with or without line breaks and padding.
  case base64
  /// Base64 with `-` and `_`.
  case base64URL
  /// A string of JSON.
  case jsonString
}

extension DocumentShape {
  /// The largest input that is accepted: 64 MiB, which is a receipt of 16 MiB in base64 of base64, with line
  /// breaks.
  package static let maximumByteCount = 64 << 20
  /// The most layers of base64 or JSON strings around a document.
  package static let maximumWrappings = 4

  /// A document inside of its layers.
  package typealias Unwrapped<Content> = (content: Content, bytes: [UInt8], wrappings: [DocumentWrapping])

  /// Removes the layers around a document and reads it. `read` gets its shape and its bytes, and returns nil for
  /// the shapes that are layers. An offset in wrapped bytes counts from the start of the unwrapped ones; the
  /// error says so.
  package static func unwrap<Content>(
    _ input: [UInt8], _ read: (DocumentShape, [UInt8]) throws(ReceiptDecodingError) -> Content?
  ) throws(ReceiptDecodingError) -> Unwrapped<Content> {
    do throws(ReceiptDecodingError) {
      return try unwrapOnce(input, read)
    } catch {
      throw lostPlus(input, read) ?? error
    }
  }

  /// The error that says where `+` is missing, if the bytes are a document with `+` in place of their spaces.
  private static func lostPlus<Content>(
    _ input: [UInt8], _ read: (DocumentShape, [UInt8]) throws(ReceiptDecodingError) -> Content?
  ) -> ReceiptDecodingError? {
    guard input.count <= maximumByteCount else { return nil }
    let text = base64.trimmed(input)
    guard let place = ForeignText.firstLostPlus(text) else { return nil }
    do throws(ReceiptDecodingError) {
      _ = try unwrapOnce(text.map { $0 == 0x20 ? UInt8(ascii: "+") : $0 }, read)
      return ReceiptDecodingError(
        expected: "base64",
        found: "spaces in place of +, as the decoder of a form leaves them: send + as %2B",
        location: "byte \(place)", offset: place)
    } catch {
      return nil
    }
  }

  /// The same, with the bytes as they are.
  private static func unwrapOnce<Content>(
    _ input: [UInt8], _ read: (DocumentShape, [UInt8]) throws(ReceiptDecodingError) -> Content?
  ) throws(ReceiptDecodingError) -> Unwrapped<Content> {
    guard input.count <= maximumByteCount else {
      throw ReceiptDecodingError(
        expected: "at most \(maximumByteCount) bytes, not \(input.count)", location: "start",
        reason: .tooLarge)
    }
    var bytes = input
    var wrappings: [DocumentWrapping] = []
    do throws(ReceiptDecodingError) {
      while true {
        let shape = try DocumentShape(bytes)
        if case .jws = shape { bytes = shape.joined(bytes) }
        if let content = try read(shape, bytes) { return (content, bytes, wrappings) }
        guard wrappings.count < maximumWrappings else {
          throw ReceiptDecodingError(
            expected: "at most \(maximumWrappings) wrappings around a document", location: "start",
            reason: .tooDeep)
        }
        let (wrapping, inner) = try shape.unwrap(bytes)
        wrappings.append(wrapping)
        bytes = inner
      }
    } catch {
      guard !wrappings.isEmpty else { throw error }
      var error = error.inside("in the bytes inside of " + wrappings.map(\.rawValue).joined(separator: ", "))
      error.offset = nil
      throw error
    }
  }
}
