/// What one request changes, in order, for the store that makes it durable. A row that changes twice stands in it once,
/// at its first place and with its last value: so the rows of the file are in the order of the model.
struct WriteLog {
  private(set) var writes: [BackendWrite] = []
  private var purchases: [TransactionKey: Int] = [:]

  mutating func append(_ write: BackendWrite) {
    guard case .purchase(let purchase) = write else { return writes.append(write) }
    if let position = purchases[purchase.transaction] {
      writes[position] = write
    } else {
      purchases[purchase.transaction] = writes.count
      writes.append(write)
    }
  }
}
