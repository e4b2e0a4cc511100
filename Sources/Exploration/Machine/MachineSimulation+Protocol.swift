import PurchaseQueue
import PurchaseSync
import Specification

/// The steps of a run, as the specification of the protocol names them.
extension MachineSimulation {
  func makeShadow(_ number: Int) -> Shadow { Shadow(checker, knobs.limits, watch, phone: number) }

  func watchCharge(_ sale: Int) {
    guard let watch else { return }
    let sold = store.sales[sale]
    let order = store.lacksToken(sale) ? store.sales[sold.bundle].order : sold.order
    let account = order < 0 ? nil : backend.orders[order].account
    // The subscriptions of a bundle have one owner, as the periods of one subscription have.
    watch.take(.paid(sale, for: account, original: store.chain(of: sale)))
  }

  func watchLaunch(_ process: Process, _ base: any SyncStorage) throws(QueueError) {
    guard let watch else { return }
    let phone = process.phone.number
    let entries = try process.phone.disk.entries(base).map { entry in
      (Names.transaction(entry.key), ProtocolStep.Party(lane: Names.lane(entry.lane), of: phone))
    }
    watch.take(.launched(process.number, on: phone, holding: Dictionary(entries) { first, _ in first }))
  }

  func watchSend(_ number: Int) {
    guard let watch else { return }
    let upload = uploads[number]
    let claims = zip(upload.claims, upload.proofs).map { claim, proof in
      ProtocolStep.Claim(
        transaction: claim.sale, isProven: proof != .none,
        tellsToken: !proof.isReceipt && !store.lacksToken(claim.sale),
        accounts: backend.orders.indices.filter(claim.match.names).map { backend.orders[$0].account })
    }
    watch.take(
      .sends(number, by: upload.process, on: upload.phone, as: .init(owner: upload.credential), claims))
  }

  func noted(_ checked: LeanBackend.CheckedAnswer, of sale: Int, from uploader: Int) {
    if let owner = checked.credited { watch?.take(.credited(sale, to: .init(owner: owner), handled)) }
    if checked.answer.ruling.isSettled { isOnRecord[sale] = true }
    checker.expect(
      .exactUnits, checked.miscounted == nil,
      "\(Names.id(sale)) is credited with \(checked.miscounted ?? 0) units, of \(store.sales[sale].units) with "
        + "\(store.sales[sale].refundedUnits) refunded")
    if let isWhole = checked.isBundleWhole {
      checker.expect(
        .bundleWhole, isWhole,
        "\(Names.id(sale)) of a bundle is credited \(backend.count(of: sale)) times, to another owner than the rest of it, or not as the verdict says"
      )
    }
    if let isMembers = checked.isSeatMembers {
      checker.expect(
        .seatIsMembers, isMembers,
        "\(Names.id(sale)) is a seat: it is credited \(backend.count(of: sale)) times, for an order, to an account without a "
          + "device of the member, or not as the verdict says")
    }
    guard let isByRecord = checked.isByRecord else { return }
    checker.expect(.idAlone, isByRecord, "\(Names.id(sale)) went to \(uploader) by its id alone")
  }

  func watchAnswer(_ number: Int, _ verdicts: [ClaimVerdict]) {
    guard let watch else { return }
    watch.take(
      .answers(
        number, verdicts.map { (Names.order($0.transactionID), ProtocolStep.Word($0.verdict)) }))
  }

  func adoptDevice(_ phone: Int, for account: Int) {
    backend.adoptDevice(phone, for: account, at: storeNow)
    watch?.take(.adopted(device: phone, by: account))
    noteLines(.isAdopted)
  }
}

extension ProtocolStep.Party {
  init(owner: LeanBackend.Owner) { self = owner < 0 ? .device(-1 - owner) : .account(owner) }

  init(lane: Int, of phone: Int) { self = lane == 0 ? .device(phone) : .account(lane - 1) }
}
