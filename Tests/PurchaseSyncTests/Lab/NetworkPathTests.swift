import PurchaseSQLite
import Testing

@testable import PurchaseSync

/// A network that a test switches.
private final class TestNetwork: Sendable {
  private let listener = Locked<(@Sendable (String?) -> Void)?>(nil)
  private let stops = Locked(0)

  var isStopped: Bool { stops.value == 1 }

  var monitor: NetworkPath.Monitor {
    { changed in
      self.listener.withLock { $0 = changed }
      return { self.stops.withLock { $0 += 1 } }
    }
  }

  func use(_ interface: String?) { listener.value?(interface) }
}

@Suite struct NetworkPathTests {
  @Test(
    arguments: [
      ([nil, "wifi"], [false, true]), (["wifi"], [false]),
      ([nil, nil, "wifi", "wifi"], [false, false, true, false]),
      (["wifi", nil, "wifi"], [false, false, true]), (["wifi", "mobile"], [false, true]),
      (["mobile", "", "", nil], [false, true, false, false]),
    ] as [([String?], [Bool])])
  func `only a network after none, or another network, is a return`(_ interfaces: [String?], _ isBack: [Bool])
  {
    var watch = NetworkWatch()
    #expect(interfaces.map { watch.isBack(on: $0) } == isBack)
  }

  @Test func `each return of the network is told`() async {
    let network = TestNetwork()
    let path = NetworkPath(network.monitor)
    var returns = path.returns.makeAsyncIterator()
    network.use(nil)
    network.use("wifi")
    #expect(await returns.next() != nil)
    network.use(nil)
    network.use("wifi")
    #expect(await returns.next() != nil)
  }

  @Test func `a network that comes and goes while the app is busy wakes it once`() async {
    let network = TestNetwork()
    let path = NetworkPath(network.monitor)
    for _ in 1...3 {
      network.use(nil)
      network.use("wifi")
    }
    let reader = Task { () -> Int in
      var count = 0
      for await _ in path.returns { count += 1 }
      return count
    }
    // A cancelled reader still gets what was buffered.
    reader.cancel()
    #expect(await reader.value == 1)
  }

  @Test func `a reader that stops ends the monitor`() async {
    let network = TestNetwork()
    let path = NetworkPath(network.monitor)
    #expect(!network.isStopped)
    let reader = Task { for await _ in path.returns {} }
    reader.cancel()
    await reader.value
    #expect(network.isStopped)
  }

  @Test func `without a monitor the returns end at once`() async {
    var count = 0
    for await _ in NetworkPath(nil).returns { count += 1 }
    #expect(count == 0)
  }
}
