import Foundation
import PurchaseQueue
import PurchaseSQLite
import PurchaseSync

/// A transport with one planted bug.
struct PlantedTransport: BackendTransport {
  let inner: EngineTransport
  let bug: EngineBug

  private var process: EngineProcess { inner.process }

  func send(_ request: BackendRequest) async throws(TransportError) -> BackendResponse {
    guard request.path == "v1/receipts" else { return try await inner.send(about(request)) }
    switch bug {
    case .retriesAtOnce: return try await repeated(request)
    case .probesWithoutEnd:
      for _ in 0..<400 {
        await inner.simulation.queue.pause(100)
        inner.simulation.countRequest(process, isUpload: false)
      }
      return try await inner.send(request)
    case .asksForTokens:
      for _ in 0..<400 where process.isAlive {
        _ = await inner.simulation.credentials(of: Names.accounts[0], process)
      }
      return try await inner.send(request)
    case .deviceOrderNotSent: return try await inner.send(withoutOrders(request))
    case .userNotNamed:
      var request = request
      request.headers[BackendRequest.signedInHeader] = nil
      return try await inner.send(request)
    case .restoredForAnyone: return asOwn(try await inner.send(request), to: request)
    case .ownerDropped: return withoutOwners(try await inner.send(request))
    case .sentTwice:
      let second = Task {
        await inner.simulation.queue.pause(100)
        _ = try await inner.send(request)
      }
      defer { second.cancel() }
      return try await inner.send(request)
    case .retryAfterSwallowed:
      var response = try await inner.send(request)
      response.retryAfter = nil
      return response
    case .answeredFromCache:
      if let cached = process.cached { return cached }
      let response = try await inner.send(request)
      if response.status == 200 { process.cached = response }
      return response
    case .finishBeforeTheReply:
      for id in claimed(request) {
        Task { _ = try await inner.simulation.finish(id, process) }
      }
      return try await inner.send(request)
    case .outcomeToldEarly:
      let response = try await inner.send(request)
      for id in granted(response) { inner.simulation.tell(Names.key(Names.order(id)).rawValue, process) }
      return response
    default: return try await inner.send(request)
    }
  }

  private func repeated(_ request: BackendRequest) async throws(TransportError) -> BackendResponse {
    for _ in 0..<400 {
      do throws(TransportError) {
        let response = try await inner.send(request)
        if response.status < 500 { return response }
      } catch {
        if error.kind == .cancelled || !process.isAlive { throw error }
      }
      await inner.simulation.queue.pause(10)
    }
    return try await inner.send(request)
  }

  /// A request about orders, with a planted bug.
  private func about(_ request: BackendRequest) -> BackendRequest {
    var request = request
    if bug == .deviceOrderNotSent, request.method == "PUT" {
      request = BackendRequest(
        method: "GET", path: "v1/orders?state=open", headers: request.headers, body: Data())
    }
    if bug == .oneKeyForAll, let key = request.headers["Idempotency-Key"] {
      if process.firstKey == nil { process.firstKey = key }
      request.headers["Idempotency-Key"] = process.firstKey
    }
    return request
  }

  private func withoutOrders(_ request: BackendRequest) -> BackendRequest {
    do {
      var upload = try JSONDecoder().decode(UploadRequest.self, from: request.body)
      for index in upload.claims.indices { upload.claims[index].order = nil }
      var request = request
      request.body = upload.json()
      return request
    } catch {
      return request
    }
  }

  private func withoutOwners(_ response: BackendResponse) -> BackendResponse {
    do {
      var reply = try JSONDecoder().decode(UploadReply.self, from: response.body)
      for index in reply.verdicts.indices { reply.verdicts[index].owner = nil }
      var response = response
      response.body = try JSONEncoder().encode(reply)
      return response
    } catch {
      return response
    }
  }

  private func asOwn(_ response: BackendResponse, to request: BackendRequest) -> BackendResponse {
    guard process.phone?.isClone == false, request.headers[BackendRequest.signedInHeader] != nil else {
      return response
    }
    do {
      var reply = try JSONDecoder().decode(UploadReply.self, from: response.body)
      for index in reply.verdicts.indices where reply.verdicts[index].verdict.isSettled {
        reply.verdicts[index].owner = .yours
        if reply.verdicts[index].verdict == .otherOwner { reply.verdicts[index].verdict = .duplicate }
      }
      var response = response
      response.body = try JSONEncoder().encode(reply)
      return response
    } catch {
      return response
    }
  }

  private func claimed(_ request: BackendRequest) -> [String] {
    do {
      return try JSONDecoder().decode(UploadRequest.self, from: request.body).claims.map(\.transactionID)
    } catch {
      return []
    }
  }

  private func granted(_ response: BackendResponse) -> [String] {
    do {
      let verdicts = try JSONDecoder().decode(UploadReply.self, from: response.body).verdicts
      return verdicts.filter(\.verdict.isSettled).map(\.transactionID)
    } catch {
      return []
    }
  }
}

/// A lock that is never released.
final class ForgottenLock {
  private let lock: AdvisoryLock

  init?(path: String) {
    do throws(FileError) {
      let lock = try AdvisoryLock(path: path)
      guard try lock.tryLock() else { return nil }
      self.lock = lock
    } catch {
      return nil
    }
  }
}

extension EngineSimulation {
  /// The planted bugs of the lease, at checkpoints.
  func planted(at checkpoint: Checkpoint, _ process: EngineProcess) {
    if bug == .leaseFreedEarly, checkpoint == .uploadSending {
      for path in lanePaths(process.directory) {
        do { try FileManager.default.removeItem(atPath: path) } catch { continue }
      }
    }
    guard bug == .leaseKept else { return }
    if checkpoint == .uploadSending { lanesSeen.formUnion(lanePaths(process.directory)) }
    guard checkpoint == .uploadReceived else { return }
    later(0) { [self] in
      forgotten += lanesSeen.sorted().compactMap { ForgottenLock(path: $0) }
    }
  }

  func lanePaths(_ directory: String) -> [String] {
    do {
      return try FileManager.default.contentsOfDirectory(atPath: directory).sorted()
        .filter { $0.contains("-lane-") }.map { directory + "/" + $0 }
    } catch {
      return []
    }
  }
}
