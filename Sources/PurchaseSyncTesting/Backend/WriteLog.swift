/// The changes of one request, in order. A row that changes twice occurs once, at its first place with its last value,
/// so that the rows of the file have the order of the model.
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
