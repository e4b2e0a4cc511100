import PurchaseSQLite

/// Everything readable in a damaged file and its log. Reads pages, not SQL: nothing that the file says is run.
struct Recovery {
  /// A table of another module.
  struct Companion {
    var name: String
    var sql: String
    var rows: [TreeWalk.Row]
  }

  private(set) var rows: FoundRows
  private(set) var companions: [Companion] = []
  /// The SQL of indexes and views of other modules.
  private(set) var parts: [String] = []
  /// What is lost, a line each.
  private(set) var losses: [String] = []

  private var walk: TreeWalk
  private var items: [SchemaText.Item] = []
  /// Rows on pages of the schema that are not of the schema: the pages are in the wrong place.
  private var strays: [TreeWalk.Row] = []

  /// - Parameter schemas: the SQL of other modules, as far as the caller knows it.
  init(
    _ image: PageImage, decoder: RowDecoder, schemas: [String]
  ) throws(SQLiteError) {
    walk = TreeWalk(image)
    rows = FoundRows(decoder)
    readSchema()
    for table in QueueSchema.tables { try readOwn(table) }
    let others = readOthers()
    walk.walkFree()
    try readRemains(image)
    rows.dropOlderCopies()
    believe(others, schemas: schemas)
    noteLosses(image)
  }

  /// How much was found: whole entries, their payloads, and tombstones.
  var amount: Int {
    rows.entries.values.reduce(rows.tombstones.count) { sum, entry in
      sum + 1
        + entry.payloads.count { payload in
          payload.id.map { rows.payloads[$0]?.count == payload.size } ?? false
        }
    }
  }

  // MARK: The schema

  private mutating func readSchema() {
    var found: [SchemaText.Item] = []
    var others: [TreeWalk.Row] = []
    walk.walk(from: 1, isTable: true) { row in
      if let item = SchemaText.item(row.values) { found.append(item) } else { others.append(row) }
    }
    strays = others
    if !walk.damaged.isEmpty {
      // A row that no page leads to any more.
      for number in 1...max(walk.image.count, 1) {
        guard let page = walk.image.page(number),
          !walk.known.contains(number) || walk.damaged.contains(number)
        else { continue }
        walk.carve(page) { row in
          guard let item = SchemaText.item(row.values), item.sql != nil || item.type == "index" else {
            return
          }
          found.append(item)
        }
      }
    }
    for item in found where !items.contains(item) { items.append(item) }
  }

  /// The page of one of our tables: by its text, otherwise by its name.
  private func root(_ table: String) -> Int? {
    let found = items.first { $0.sql == SchemaText.own[table] } ?? items.first { $0.name == table }
    return found.map { Int(clamping: $0.root) }
  }

  // MARK: Trees

  private mutating func readOwn(_ table: String) throws(SQLiteError) {
    guard let root = root(table) else {
      losses.append("the table \(table) is not in the schema; rows with a checksum are kept")
      return
    }
    var found: [TreeWalk.Row] = []
    let isTable = ["entries", "payloads", "totals"].contains(table)
    let broken = walk.brokenRecords
    walk.walk(from: root, isTable: isTable) { found.append($0) }
    for row in found {
      // A page of the schema may be in the wrong place as well.
      if let item = SchemaText.item(row.values), !items.contains(item) { items.append(item) }
      try rows.take(row, of: table)
    }
    if walk.brokenRecords > broken {
      losses.append("\(walk.brokenRecords - broken) rows of \(table) are not whole")
    }
  }

  /// The rows of other modules' tables. All other trees are walked as well, to know their pages.
  private mutating func readOthers() -> [SchemaText.Item: [TreeWalk.Row]] {
    var found: [SchemaText.Item: [TreeWalk.Row]] = [:]
    for item in items where item.type != "view" && !(item.type == "table" && isOwn(item)) {
      guard item.root > 1 else { continue }
      let root = Int(clamping: item.root)
      var read: [TreeWalk.Row] = []
      let isTable = item.type == "table" && item.sql.map(SchemaText.isWithoutRowid) != true
      walk.walk(from: root, isTable: isTable) { read.append($0) }
      if item.type == "table" { found[item] = read }
      // A page of our tables may be in the wrong place.
      strays += read
    }
    return found
  }

  private func isOwn(_ item: SchemaText.Item) -> Bool {
    item.sql.map { SchemaText.own.values.contains($0) } == true || SchemaText.own[item.name] != nil
  }

  // MARK: Remains

  private mutating func readRemains(_ image: PageImage) throws(SQLiteError) {
    var found = strays
    // First pages whose cells are in order: they name the pages of their long records.
    for number in walk.orphans {
      guard let page = image.page(number), let read = PageReader(page, number: number), read.isConsistent
      else { continue }
      for cell in read.cells where read.kind != .tableBranch {
        if let row = walk.row(cell, of: page, claiming: true) { found.append(row) }
      }
    }
    for number in Set(walk.orphans).union(walk.damaged).sorted() {
      if let page = image.page(number) { walk.carve(page) { found.append($0) } }
    }
    for page in image.doubtful.reversed() { walk.carve(page) { found.append($0) } }
    for row in found { try rows.takeRemains(row) }
  }

  // MARK: Other modules

  /// A text is believed if its checksum was noted when it was written, or if the caller knows it.
  private mutating func believe(_ others: [SchemaText.Item: [TreeWalk.Row]], schemas: [String]) {
    let known = SchemaText.facts.compactMap { rows.facts[$0] }.map(SchemaText.checksums(in:))
      .reduce(into: Set<Int64>()) { $0.formUnion($1) }
    var texts: [String: String] = [:]
    for schema in schemas { texts.merge(SchemaText.byName(schema)) { first, _ in first } }
    for item in items where !isOwn(item) {
      guard item.type != "trigger", let sql = item.sql else { continue }
      guard let text = known.contains(SchemaText.checksum(item)) ? sql : texts[item.name] else {
        losses.append("the \(item.type == "table" ? "table" : "index or view") \(Redaction.line(item.name))")
        continue
      }
      if item.type != "table" {
        parts.append(text)
      } else if !companions.contains(where: { $0.name == item.name }) {
        companions.append(Companion(name: item.name, sql: text, rows: others[item] ?? []))
      }
    }
  }

  private mutating func noteLosses(_ image: PageImage) {
    for (table, count) in rows.lost.sorted(by: { $0.key < $1.key }) {
      losses.append("\(count) rows of \(table)")
    }
    if let totals = rows.totals {
      let kept = rows.placed().count
      let counted = totals.queued.addingReportingOverflow(totals.quarantined).partialValue
      if counted > kept { losses.append("\(counted - kept) entries of \(counted)") }
      let buried = rows.tombstones.count
      if totals.tombstones > buried { losses.append("\(totals.tombstones - buried) tombstones") }
    }
  }
}
