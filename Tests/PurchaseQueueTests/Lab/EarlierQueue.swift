import ProcessFaults
import PurchaseQueue
import PurchaseSQLite

/// A file of version 0 of the schema with some of everything.
enum EarlierQueue {
  static let shared = Array("a receipt that two entries share".utf8)
  static let own = Array("a receipt of one entry".utf8)

  /// Entries a, b and c (b and c share a payload; c is quarantined), a settled entry with duties and one without, a fact,
  /// and a companion's table.
  static func make(at path: String) throws {
    // Settings and the tables that are the same in both versions.
    _ = try QueueFile(path: path, now: noon)
    try EarlierFile.rewrite(path)
    let connection = try Connection(path: path)
    let payload = try connection.prepare("INSERT INTO payloads VALUES(?,?,?,?)")
    for (uses, bytes) in [(1, own), (2, shared)] {
      let checksum = SQLValue.integer(Checksum.of(bytes))
      try payload.run([checksum, checksum, .integer(Int64(uses)), .bytes(bytes)])
    }
    let (first, second) = (line(own), line(shared))
    try connection.execute(
      """
      INSERT INTO entries VALUES(3,'a','device','queued',0,NULL,0,NULL,1000,0,'\(first)','details of a');
      INSERT INTO entries
        VALUES(5,'b','account:alice','queued',9000,'order-b',2,2500,2000,1,'\(second)','details of b');
      INSERT INTO entries
        VALUES(6,'c','account:alice','quarantined',0,NULL,8,3500,3000,0,'\(second)','details of c');
      INSERT INTO tombstones VALUES('s','account:bob','order-s','granted','details of s',3500,2,4000,1,1);
      INSERT INTO tombstones VALUES('t','account:bob',NULL,'duplicate','details of t',4500,0,5000,0,0);
      INSERT INTO facts VALUES('device','a device');
      INSERT INTO facts VALUES('journal.version', '7');
      CREATE TABLE orders(number TEXT PRIMARY KEY, note TEXT) STRICT;
      CREATE INDEX orders_by_note ON orders(note);
      INSERT INTO orders VALUES('order-b','a note');
      """)
  }

  /// The stored form of a payload in the row of an entry.
  private static func line(_ bytes: [UInt8]) -> String { "\(Checksum.of(bytes)) \(bytes.count) payload" }
}
