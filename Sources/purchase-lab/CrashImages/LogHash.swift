import FaultInjection

/// A hash of the events, the same in every process (FNV-1a, <http://www.isthe.com/chongo/tech/comp/fnv/>).
struct LogHash {
  private(set) var value: UInt64 = 0xCBF2_9CE4_8422_2325

  mutating func add(_ number: UInt64) { value = (value ^ number) &* 0x0000_0100_0000_01B3 }

  mutating func add(_ state: LogicalState) { add(UInt64(bitPattern: state.all)) }

  mutating func add(_ operation: DiskOperation) {
    for byte in operation.summary.utf8 { add(UInt64(byte)) }
    switch operation {
    case .write(_, _, let bytes), .vault(_, let bytes?):
      for byte in bytes { add(UInt64(byte)) }
    default: break
    }
  }
}
