import PurchaseSQLite

/// The SQL texts of a file's schema that are believed. Damage turns a text into other SQL, which must not be run: so each
/// text is compared with what was written before anything relies on it.
enum SchemaText {
  /// A row of `sqlite_schema`.
  struct Item: Hashable {
    var type: String
    var name: String
    var table: String
    var root: Int64
    /// Nil for an index that SQLite made by itself.
    var sql: String?
  }

  /// The texts of the queue's own tables, indexes and views, by name.
  static let own: [String: String] = byName(QueueSchema.sql)

  /// The statements of a text, by the name of what they create, as SQLite stores them.
  static func byName(_ sql: String) -> [String: String] {
    var found: [String: String] = [:]
    for text in sql.statements {
      var words = text.split(maxSplits: 6) { $0 == " " || $0 == "(" }
      guard words.count > 2 else { continue }
      guard words[2] == "IF", words.count > 5 else {
        found[String(words[2])] = text
        continue
      }
      // SQLite stores the text without these words.
      let name = String(words[5])
      let rest = text.dropFirst(words[0].count + words[1].count + " IF NOT EXISTS".count + 2)
      words = Array(words.prefix(2))
      found[name] = words.joined(separator: " ") + " " + rest
    }
    return found
  }

  static let select = "SELECT type, name, tbl_name, rootpage, sql FROM sqlite_schema"

  static func item(_ row: borrowing Row) -> Item {
    Item(
      type: row.text(0), name: row.text(1), table: row.text(2), root: row.integer(3), sql: row.optionalText(4)
    )
  }

  /// The row as it is read without SQLite; nil if it is none.
  static func item(_ values: [SQLValue]) -> Item? {
    guard values.count == 5, case .text(let type) = values[0], case .text(let name) = values[1],
      case .text(let table) = values[2], case .integer(let root) = values[3]
    else { return nil }
    guard case .text(let sql) = values[4] else {
      return Item(type: type, name: name, table: table, root: root, sql: nil)
    }
    return Item(type: type, name: name, table: table, root: root, sql: sql)
  }

  /// The checksum of everything in a row but its page.
  static func checksum(_ item: Item) -> Int64 {
    var hash = RowHash()
    hash.add(item.type)
    hash.add(item.name)
    hash.add(item.table)
    hash.add(item.sql)
    return hash.value
  }

  // MARK: Texts of other modules

  /// The fact that holds the checksums of the schema of other modules, once more under the second name.
  static let facts = ["schema", "schema-copy"]

  /// The stored form: the checksums in hexadecimal, with spaces.
  static func note(of items: [Item]) -> String {
    items.map { String(UInt64(bitPattern: checksum($0)), radix: 16) }.sorted().joined(separator: " ")
  }

  static func checksums(in note: String) -> Set<Int64> {
    Set(note.split(separator: " ").compactMap { UInt64($0, radix: 16) }.map { Int64(bitPattern: $0) })
  }

  /// What is wrong with a schema; nil if every text of the queue is what was written.
  static func problem(_ items: [Item], pages: Int64) -> String? {
    var missing = own
    var roots: Set<Int64> = []
    for item in items {
      if item.type == "trigger" { return "there is a trigger that is not ours: \(item.name)" }
      if item.type == "view" {
        guard item.root == 0 else { return "the view \(item.name) has a page" }
      } else if item.root < 2 || item.root > pages || !roots.insert(item.root).inserted {
        return "the page of \(item.name) cannot be right"
      }
      if let sql = own[item.name] {
        guard item.sql == sql, item.type == Self.type(of: sql), item.table == Self.table(of: sql, item.name)
        else {
          return "the schema of \(item.name) is not ours"
        }
        missing[item.name] = nil
      } else if item.sql == nil,
        !item.name.hasPrefix("sqlite_autoindex_\(item.table)_") || item.type != "index"
      {
        return "\(item.name) has no text"
      }
    }
    return missing.keys.min().map { "\($0) is missing in the schema" }
  }

  /// As `problem`, for what other modules made. Its checksums are noted.
  static func problem(ofOthers others: [Item], known: Set<Int64>) -> String? {
    guard !known.isSubset(of: others.map(checksum)) else { return nil }
    return "a part of the schema is missing that another module made"
  }

  /// What other modules made.
  static func others(_ items: [Item]) -> [Item] { items.filter { own[$0.name] == nil && !isAutomatic($0) } }

  static func isWithoutRowid(_ sql: String) -> Bool { sql.hasSuffix("WITHOUT ROWID") }

  /// How many columns one of our tables has; nil for an index or a view.
  static func columns(ofTable sql: String) -> Int? {
    guard sql.hasPrefix("CREATE TABLE") else { return nil }
    // Each column has a line of its own.
    return sql.split(separator: "\n").count - 2
  }

  private static func isAutomatic(_ item: Item) -> Bool { item.sql == nil && item.name.hasPrefix("sqlite_") }

  /// The table that an index belongs to; of a table or a view, its own name.
  private static func table(of sql: String, _ name: String) -> String {
    guard sql.hasPrefix("CREATE INDEX") else { return name }
    // Each opening comes here: splitting a string decodes characters.
    let words = sql.utf8.split(maxSplits: 5) { $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "(") }
    return words.count > 4 ? String(Substring(words[4])) : name
  }

  private static func type(of sql: String) -> String {
    sql.hasPrefix("CREATE TABLE") ? "table" : sql.hasPrefix("CREATE VIEW") ? "view" : "index"
  }
}

extension String {
  /// The statements of SQL: each ends with a semicolon at the end of a line.
  fileprivate var statements: [String] {
    var statements: [String] = []
    var line: [Substring] = []
    for part in split(separator: "\n", omittingEmptySubsequences: false) {
      line.append(part)
      guard part.hasSuffix(";") else { continue }
      statements.append(String(line.joined(separator: "\n").dropLast()))
      line = []
    }
    return statements
  }
}
