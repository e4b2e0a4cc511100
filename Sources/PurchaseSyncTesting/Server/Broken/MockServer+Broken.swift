import LoopbackHTTP
import PurchaseQueue
import PurchaseSync

extension MockServer {
  /// Makes the backend of this server ask the store of another one, as a backend asks a store that is not its own.
  package func useStore(of other: MockServer) { verify(by: StoreInProcess(mock: other.mock)) }
}
