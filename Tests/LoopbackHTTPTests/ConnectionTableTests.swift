import LoopbackHTTP
import Testing

/// Which connection is closed for another one.
struct ConnectionTableTests {
  private typealias Table = ConnectionTable<String>

  @Test func `the connection that has waited longest for its client is closed first`() {
    var table = Table()
    let first = table.add("first")
    _ = table.add("second")
    // Answered in the meantime: its client let the server wait only since then.
    table.enter(.busy, first)
    table.enter(.head, first)
    #expect(table.choose() == "second")
    #expect(table.choose() == "first")
    #expect(table.choose() == nil)
  }

  @Test func `a connection that only ends goes before one with half a head, and that before one with a body`()
  {
    var table = Table()
    for phase in Table.Phase.allCases.reversed() { table.enter(phase, table.add("\(phase)")) }
    #expect(table.choose() == "closing")
    #expect(table.choose() == "head")
    #expect(table.choose() == "body")
    #expect(!table.hasCandidate && table.choose() == nil, "a request that is handled is never cut off")
    #expect(table.count == 1)
  }

  @Test func `a connection is chosen once, and is no longer counted`() {
    var table = Table()
    let (first, second) = (table.add("first"), table.add("second"))
    #expect(table.choose() == "first")
    #expect(table.isLeaving(first) && !table.isLeaving(second) && table.count == 1)
    table.remove(first)
    #expect(!table.isLeaving(first) && table.count == 1)
    #expect(table.choose() == "second")
  }

  @Test func `a request that was complete in time is answered, and its connection counts again`() {
    var table = Table()
    let name = table.add("one")
    #expect(table.choose() == "one")
    table.enter(.busy, name)
    #expect(!table.isLeaving(name) && table.count == 1 && !table.hasCandidate)
  }
}
