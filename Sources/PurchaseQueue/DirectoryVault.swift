import PurchaseSQLite

/// A vault in a directory: one file per item, written whole, synced and renamed into place.
public struct DirectoryVault: ReceiptVault {
  private static let suffix = ".item"
  private let directory: String

  /// Uses the directory; it is made when the first item is stored.
  public init(directory: String) { self.directory = directory }

  /// Writes beside the item's file, syncs, renames, syncs the directory.
  public func store(_ item: VaultItem) throws(VaultError) {
    do throws(FileError) {
      try DurableFile.createDirectory(directory)
      try DurableFile.replace(path(of: item.name), with: item.bytes)
    } catch {
      throw .failed(reason: error.description)
    }
  }

  /// Removes the item's file and syncs the directory.
  public func remove(named name: String) throws(VaultError) {
    do throws(FileError) {
      guard try DurableFile.kind(of: path(of: name)) != .absent else { return }
      try DurableFile.remove(path(of: name))
    } catch {
      throw .failed(reason: error.description)
    }
  }

  /// Reads every item. What a killed write left behind is passed over.
  public func list() throws(VaultError) -> [VaultItem] {
    do throws(FileError) {
      guard try DurableFile.kind(of: directory) != .absent else { return [] }
      var items: [VaultItem] = []
      for file in try DurableFile.names(in: directory) where file.hasSuffix(Self.suffix) {
        let name = Self.unescape(file.dropLast(Self.suffix.count))
        items.append(VaultItem(name: name, bytes: try DurableFile.read(directory + "/" + file)))
      }
      return items.sorted { $0.name < $1.name }
    } catch {
      throw .failed(reason: error.description)
    }
  }

  private func path(of name: String) -> String { directory + "/" + Self.escape(name) + Self.suffix }

  /// Letters, digits, dots and dashes stay; every other byte becomes `%` and two digits.
  static func escape(_ name: String) -> String {
    var escaped = ""
    for byte in name.utf8 {
      switch byte {
      case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
        UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "."), UInt8(ascii: "-"):
        escaped.unicodeScalars.append(Unicode.Scalar(byte))
      default:
        let digits = String(byte, radix: 16)
        escaped += "%" + (digits.count == 1 ? "0" : "") + digits
      }
    }
    return escaped
  }

  static func unescape(_ text: Substring) -> String {
    var bytes: [UInt8] = []
    var rest = text.utf8[...]
    while let byte = rest.popFirst() {
      if byte == UInt8(ascii: "%"),
        let value = UInt8(String(decoding: rest.prefix(2), as: UTF8.self), radix: 16)
      {
        rest = rest.dropFirst(2)
        bytes.append(value)
      } else {
        bytes.append(byte)
      }
    }
    return String(decoding: bytes, as: UTF8.self)
  }
}
