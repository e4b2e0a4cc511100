/// The request target, RFC 9112 3.2.
struct RequestTarget: Equatable {
  var path = "/"
  var query: [String: String] = [:]
  /// Path and query, still encoded.
  var text = ""

  init() {}

  init(_ bytes: ArraySlice<UInt8>, method: String) throws(ParseFailure) {
    // RFC 3986 2: nothing but visible ASCII; RFC 9112 3.2.1: the fragment is never sent.
    guard bytes.allSatisfy({ $0 > ASCII.space && $0 < ASCII.delete && $0 != UInt8(ascii: "#") }) else {
      throw ParseFailure(400, "illegal character in the request target")
    }
    // RFC 9110 9.3.6: this is no proxy.
    guard method != "CONNECT" else { throw ParseFailure(501, "CONNECT is not supported") }
    if bytes.elementsEqual("*".utf8) {
      // RFC 9112 3.2.4: the asterisk form is for OPTIONS only.
      guard method == "OPTIONS" else { throw ParseFailure(400, "the target * is for OPTIONS only") }
      path = "*"
      return
    }
    let local = try RequestTarget.withoutOrigin(bytes)
    text = String(decoding: local, as: UTF8.self)
    let mark = local.firstIndex(of: UInt8(ascii: "?")) ?? local.endIndex
    if mark > local.startIndex { path = try PercentCoding.decode(local[..<mark]) }
    try readQuery(local[mark...].dropFirst())
  }

  /// Path and query: the origin form as it is, or what follows the authority of the absolute form,
  /// which a server must accept (RFC 9112 3.2.2).
  private static func withoutOrigin(_ bytes: ArraySlice<UInt8>) throws(ParseFailure) -> ArraySlice<UInt8> {
    if bytes.first == UInt8(ascii: "/") { return bytes }
    for scheme in ["http://", "https://"]
    where ASCII.equalIgnoringCase(bytes.prefix(scheme.utf8.count), scheme.utf8) {
      let afterScheme = bytes.dropFirst(scheme.utf8.count)
      let local = afterScheme.drop { $0 != UInt8(ascii: "/") && $0 != UInt8(ascii: "?") }
      // RFC 9110 4.2.1: an http URI with an empty host is invalid.
      guard local.startIndex > afterScheme.startIndex else { break }
      return local
    }
    throw ParseFailure(400, "the request target is neither a path nor an http URI")
  }

  private mutating func readQuery(_ bytes: ArraySlice<UInt8>) throws(ParseFailure) {
    guard !bytes.isEmpty else { return }
    for pair in bytes.split(separator: UInt8(ascii: "&")) {
      let equals = pair.firstIndex(of: UInt8(ascii: "=")) ?? pair.endIndex
      let name = try PercentCoding.decode(pair[..<equals])
      query[name] = try PercentCoding.decode(pair[equals...].dropFirst())
    }
  }
}
