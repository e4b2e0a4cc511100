/// An element of DER that was read: of a certificate, or of a question by OCSP. For the testing kit only.
///
/// Only short tags and definite lengths, as DER has them. The content is not copied.
struct DERElement {
  let tag: UInt8
  let content: ArraySlice<UInt8>
  /// With the tag and the length.
  let whole: ArraySlice<UInt8>

  /// The first element; nil if the bytes do not begin with a whole one.
  init?(_ bytes: ArraySlice<UInt8>) {
    let start = bytes.startIndex
    guard bytes.count >= 2, bytes[start] & 0x1F != 0x1F else { return nil }
    var begin = start + 2
    var length = Int(bytes[start + 1])
    if length >= 0x80 {
      let octets = length & 0x7F
      guard 1...4 ~= octets, octets <= bytes.endIndex - begin else { return nil }
      length = bytes[begin..<begin + octets].reduce(0) { $0 << 8 | Int($1) }
      begin += octets
    }
    guard length <= bytes.endIndex - begin else { return nil }
    tag = bytes[start]
    content = bytes[begin..<begin + length]
    whole = bytes[start..<begin + length]
  }

  /// The elements in it, all of them; nil if the content is anything else.
  var children: [DERElement]? {
    var children: [DERElement] = []
    var rest = content
    while !rest.isEmpty {
      guard let child = DERElement(rest) else { return nil }
      children.append(child)
      rest = rest[child.whole.endIndex...]
    }
    return children
  }

  /// The child at a place; nil if there is none.
  subscript(_ index: Int) -> DERElement? {
    children.flatMap { $0.indices.contains(index) ? $0[index] : nil }
  }
}
