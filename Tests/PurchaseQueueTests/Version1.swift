import FaultInjection
import PurchaseQueue
import PurchaseSQLite

/// A file as the first version of the schema made it, with some of everything.
enum Version1 {
  static let shared = Array("a receipt that two entries share".utf8)
  static let own = Array("a receipt of one entry".utf8)

  /// Entries a (proposed for nobody), b and c (sharing a proof; c is quarantined), a settled one with duties and one
  /// without, a fact, and a companion's table.
  static func make(at path: String) throws {
    let connection = try Connection(path: path)
    try connection.execute(FirstSchema.newFile)
    let proof = try connection.prepare("INSERT INTO proofs VALUES(?,?,?,?)")
    for (id, bytes) in [(1, own), (2, shared)] {
      try proof.run([
        .integer(Int64(id)), .integer(Checksum.of(bytes)), .integer(Int64(bytes.count)), .bytes(bytes),
      ])
    }
    try connection.execute(
      """
      INSERT INTO entries VALUES(3,'a','device',NULL,'details of a','queued',1000,0,NULL,1000,0,11);
      INSERT INTO entries VALUES(5,'b','account:alice','order-b','details of b','queued',2000,2,2500,9000,1,12);
      INSERT INTO entries VALUES(6,'c','account:alice',NULL,'details of c','quarantined',3000,8,3500,3000,0,13);
      INSERT INTO entry_proofs VALUES(3,'proof',1),(5,'proof',2),(6,'proof',2);
      INSERT INTO tombstones VALUES('s','account:bob','order-s','granted','details of s',4000,1,1,14);
      INSERT INTO tombstones VALUES('t','account:bob',NULL,'duplicate','details of t',5000,0,0,15);
      UPDATE totals SET entries=3, bytes=\(own.count + shared.count);
      INSERT INTO facts VALUES('device','a device');
      INSERT INTO companions VALUES('journal', 7);
      CREATE TABLE orders(number TEXT PRIMARY KEY, note TEXT) STRICT;
      CREATE INDEX orders_by_note ON orders(note);
      INSERT INTO orders VALUES('order-b','a note');
      """)
  }
}
