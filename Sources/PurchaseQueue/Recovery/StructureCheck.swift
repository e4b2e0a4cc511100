import PurchaseSQLite

/// Checks that each page of a file has one use: in one tree, in one long record, or free.
///
/// SQLite relies on that when it writes. In a file where it does not hold, one commit can write over the page of an
/// entry that no damage has touched. So the first commit of an opening waits for this check. It reads each page once and
/// no values.
enum StructureCheck {
  /// What is wrong; nil for nothing.
  static func problem(_ image: PageImage) -> String? {
    var walk = TreeWalk(image)
    var items: [SchemaText.Item] = []
    walk.walk(from: 1, isTable: true, columns: 5) { row in
      if let item = SchemaText.item(row.values) { items.append(item) }
    }
    for item in items where item.root > 0 {
      let hasRowids = item.type == "table" && item.sql.map(SchemaText.isWithoutRowid) != true
      let columns = SchemaText.own[item.name].flatMap { SchemaText.columns(ofTable: $0) }
      walk.walk(from: Int(clamping: item.root), isTable: hasRowids, columns: columns)
    }
    walk.walkFree()
    if let page = walk.damaged.min() { return "page \(page) is not as it was written" }
    if let page = walk.contested.min() { return "page \(page) has two uses" }
    if walk.brokenRecords > 0 { return "\(walk.brokenRecords) records are not whole" }
    if let page = walk.firstOrphan { return "page \(page) has no use" }
    return nil
  }
}
