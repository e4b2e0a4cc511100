import Foundation
import PurchaseQueue
import PurchaseSync
import Specification

/// The steps of a run, as the specification of the protocol names them.
extension EngineSimulation {
  // MARK: Devices

  /// The changes of a file since it was last read.
  func watchCommits(of device: Int, _ content: FileWatch.Content?) {
    guard let protocolWatch, let content, device != 0 || !isDying else { return }
    let known = committed[device, default: FileWatch.Content()]
    committed[device] = content
    let commits = CommitSteps(
      transaction: Self.sale, party: { self.party(of: $0, device) },
      isDiscarded: { self.discarded.contains(Self.sale($0)) })
    for step in commits.steps(on: device, from: known, to: content) { protocolWatch.take(step) }
  }

  private static func sale(_ key: String) -> Int { Names.transaction(EntryKey(rawValue: key)) }

  private func party(of row: FileWatch.Row?, _ device: Int) -> ProtocolStep.Party {
    guard let lane = row.map({ Lane(rawValue: $0.lane) }) else { return .device(device) }
    if let asker = lane.asker { return .question(Names.account(asker)) }
    return lane.account.map { .account(Names.account($0)) } ?? .device(device)
  }

  /// The credential says the party; that of the device also sends questions.
  private func party(
    of request: BackendRequest, _ claims: [Claim], _ process: EngineProcess
  ) -> ProtocolStep.Party {
    if let account = Self.account(request.headers["Authorization"] ?? "") {
      return .account(Names.account(account))
    }
    let rows = committed[process.device]?.rows
    let row = claims.first.flatMap { rows?[$0.environment + "/" + $0.transactionID] }
    if case .question(let asker) = party(of: row, process.device) { return .question(asker) }
    return .device(process.device)
  }

  func watchLaunch(_ process: EngineProcess) {
    guard let protocolWatch else { return }
    if process.phone == nil { look() }
    let device = process.device
    let entries = (committed[device]?.rows ?? [:]).map { (Self.sale($0), party(of: $1, device)) }
    protocolWatch.take(
      .launched(process.number, on: device, holding: Dictionary(entries) { first, _ in first }))
  }

  func watchEnd(_ process: EngineProcess) {
    guard let protocolWatch else { return }
    if process.phone != nil || !isDying { _ = content(of: process) }
    protocolWatch.take(.died(process.number))
  }

  // MARK: Requests

  func watchSend(_ request: BackendRequest, _ send: Int, _ process: EngineProcess) {
    guard let protocolWatch, request.path == "v1/receipts" else { return }
    _ = content(of: process)
    do {
      let upload = try JSONDecoder().decode(UploadRequest.self, from: request.body)
      let claims = upload.claims.map { claim in
        let proof = upload.proof(of: claim)?.kind
        let numbers = (claim.orderNumber.map { [$0] } ?? []) + (claim.candidates ?? [])
        return ProtocolStep.Claim(
          transaction: Names.order(claim.transactionID), isProven: proof != nil,
          tellsToken: proof != .appReceipt && !store.lacksToken(Names.order(claim.transactionID)),
          accounts: numbers.map { slot(of: $0) }.filter(backend.orders.indices.contains)
            .map { backend.orders[$0].account })
      }
      let party = party(of: request, upload.claims, process)
      awaited.insert(send)
      protocolWatch.take(.sends(send, by: process.number, on: process.device, as: party, claims))
    } catch {
      checker.broken(.ownName, "an upload cannot be read: \(error)")
    }
  }

  func watchCancelled(_ send: Int) {
    if awaited.remove(send) != nil { protocolWatch?.take(.ends(send)) }
  }

  func watchResult(
    _ result: Result<BackendResponse, TransportError>, _ send: Int, _ process: EngineProcess
  ) {
    guard awaited.remove(send) != nil, process.isAlive else { return }
    guard case .success(let response) = result, response.status == 200,
      response.contentType == "application/json"
    else { return protocolWatch?.take(.ends(send)) ?? () }
    protocolWatch?.take(.hears(send))
  }

  func watchOutcome(of sale: Int, _ verdict: Verdict, _ process: EngineProcess) {
    guard let protocolWatch, verdict.isSettled else { return }
    _ = content(of: process)
    protocolWatch.take(.told(sale, on: process.device, .init(verdict)))
  }

  // MARK: Store and backend

  func watchCharge(_ sale: Int) {
    let sold = store.sales[sale]
    let order = store.lacksToken(sale) ? store.sales[sold.bundle].order : sold.order
    let account = order < 0 ? nil : backend.orders[order].account
    protocolWatch?.take(.paid(sale, for: account, original: store.chain(of: sale)))
  }

  func watchArrival() {
    if let handled { protocolWatch?.take(.receives(handled)) }
  }

  func noted(_ checked: LeanBackend.CheckedAnswer, of sale: Int, from uploader: Int) {
    if let owner = checked.credited { protocolWatch?.take(.credited(sale, to: .init(owner: owner), handled)) }
    if checked.answer.ruling.isSettled { isOnRecord[sale] = true }
    checker.expect(
      .exactUnits, checked.miscounted == nil,
      "\(Names.id(sale)) is credited with \(checked.miscounted ?? 0) units, of \(store.sales[sale].units) with "
        + "\(store.sales[sale].refundedUnits) refunded")
    if let isWhole = checked.isBundleWhole {
      checker.expect(
        .bundleWhole, isWhole,
        "\(Names.id(sale)) of a bundle is credited \(backend.count(of: sale)) times, or to another owner")
    }
    if let isMembers = checked.isSeatMembers {
      checker.expect(
        .seatIsMembers, isMembers,
        "\(Names.id(sale)) is a seat: it is credited \(backend.count(of: sale)) times, for an order, or to an account"
      )
    }
    guard let isByRecord = checked.isByRecord else { return }
    checker.expect(.idAlone, isByRecord, "\(Names.id(sale)) went to \(uploader) by its id alone")
  }

  func watchAnswer(_ verdicts: [ClaimVerdict]) {
    guard let handled else { return }
    protocolWatch?.take(
      .answers(
        handled,
        verdicts.map { (Names.order($0.transactionID), ProtocolStep.Word($0.verdict)) }))
  }
}
