import Foundation
import PurchaseQueue
import PurchaseSync
import Specification

/// The network between one process and the backend.
struct EngineTransport: BackendTransport {
  let simulation: EngineSimulation
  let process: EngineProcess

  func send(_ request: BackendRequest) async throws(TransportError) -> BackendResponse {
    try await simulation.send(request, process)
  }
}

/// What can happen to a request.
private enum Fate: CaseIterable {
  case requestLost, replyLost, busy, captive, hangs, twice, late, errorAfterCommit
}

/// Holds the reply after the backend has made it.
private final class Answer: @unchecked Sendable {
  var response: BackendResponse?
}

extension EngineSimulation {
  func send(_ request: BackendRequest, _ process: EngineProcess) async throws(TransportError)
    -> BackendResponse
  {
    guard process.isAlive else { throw TransportError(reason: "the process is gone") }
    checkCalls(process, "sends \(request.path)")
    let lane = request.path == "v1/receipts" ? lane(of: request, process) : ""
    sendCount += 1
    countRequest(process, isUpload: request.path == "v1/receipts")
    let send = sendCount
    if request.path == "v1/receipts" { checkUpload(request, process) }
    if !lane.isEmpty { begins(send, lane, process) }
    watchSend(request, send, process)
    let limit = queue.now + Self.requestTime
    let result = await withTaskCancellationHandler {
      await answer(to: request, send, process)
    } onCancel: {
      // The caller was cancelled, or the time is over: a later reply is dropped.
      if !lane.isEmpty, self.queue.now < limit { self.cancelled(process) }
      self.ended(send, lane)
      self.watchCancelled(send)
    }
    ended(send, lane)
    watchResult(result, send, process)
    let response = try result.get()
    if process.isAlive { arrived(response, to: request, process) }
    return response
  }

  /// How long a request may take, in milliseconds; then the engine gives it up.
  static let requestTime: Int64 = 300_000

  /// The lane of the first claim's entry. The lanes of the device and of its questions have one credential.
  private func lane(of request: BackendRequest, _ process: EngineProcess) -> String {
    let name = request.headers["Authorization"] ?? ""
    if let phone = process.phone { return phone.name + ", " + name }
    do {
      let claims = try JSONDecoder().decode(UploadRequest.self, from: request.body).claims
      look()
      guard let first = claims.first else { return name }
      return watch?.content.rows[first.environment + "/" + first.transactionID]?.lane ?? name
    } catch {
      return name
    }
  }

  private func begins(_ send: Int, _ lane: String, _ process: EngineProcess) {
    let out = inFlight[lane, default: []]
    checker.expect(.oneInFlight, out.isEmpty, "\(process.name) sends a second request of lane \(lane)")
    inFlight[lane, default: []].append((send, process.number))
  }

  /// An upload was cancelled before its time was over: the engine suspends or shuts down.
  private func cancelled(_ process: EngineProcess) {
    guard process.suspending > 0, process.isAlive, !process.isEnding else { return }
    checker.mark(.suspensionCancelledUpload)
    guard let until = process.leftAloneUntil, knobs.stalls == 0 else { return }
    checker.expect(
      .suspensionHolds, queue.now >= until,
      "an upload is cancelled \(until - queue.now) ms before its time is over"
    )
  }

  private func ended(_ send: Int, _ lane: String) {
    inFlight[lane]?.removeAll { $0.send == send }
  }

  private func answer(
    to request: BackendRequest, _ send: Int, _ process: EngineProcess
  ) async -> Result<BackendResponse, TransportError> {
    if isOffline, process.phone == nil {
      tell(process, "cannot send \(request.path): no network")
      return .failure(TransportError(.noAnswer, reason: "no network"))
    }
    let isStruck = !isHealed && network.chance(knobs.network)
    let fate = isStruck ? network.pick(Fate.allCases) : nil
    tell(process, "sends \(request.path)" + (fate.map { ", \($0)" } ?? ""))
    let (way, back) = (Int64(network.below(knobs.latency + 1)), Int64(network.below(knobs.latency + 1)))
    if fate != nil, process.phone == nil { struckRequests += 1 }
    defer { if fate != nil, process.phone == nil { struckRequests -= 1 } }
    do {
      return .success(try await carry(request, send, fate, way, back, process))
    } catch is CancellationError {
      return .failure(TransportError(.cancelled, reason: "the request was cancelled"))
    } catch {
      return .failure(TransportError(.noAnswer, reason: "no answer"))
    }
  }

  private func carry(
    _ request: BackendRequest, _ send: Int, _ fate: Fate?, _ way: Int64, _ back: Int64,
    _ process: EngineProcess
  ) async throws -> BackendResponse {
    switch fate {
    case .requestLost:
      try await wait(way + 30_000, process)
      throw Gone()
    case .hangs:
      checker.mark(.transportHung)
      if network.chance(500) { _ = hand(over: request, send, process, after: way) }
      try await hang(network.chance(knobs.deaf), process)
    case .busy:
      checker.mark(.busy)
      try await wait(way + back, process)
      return try busy(process)
    case .captive:
      checker.mark(.captive)
      try await wait(way, process)
      return BackendResponse(
        status: network.pick([200, 403]), contentType: "text/html", body: Data("<html>Sign in".utf8))
    default: break
    }
    let answer = hand(over: request, send, process, after: way)
    if fate == .twice {
      checker.mark(.requestTwice)
      _ = hand(over: request, send, process, after: way + 5 * Int64(1 + network.below(knobs.latency + 1)))
    }
    if fate == .replyLost {
      checker.mark(.replyLost)
      try await wait(way + 30_000, process)
      throw Gone()
    }
    try await wait(way + back + (fate == .late ? Int64(network.below(40_000)) : 0), process)
    if fate == .errorAfterCommit { return BackendResponse(status: 500, body: Data()) }
    guard let response = answer.response else { throw Gone() }
    return response
  }

  /// The backend receives the request even if its sender dies.
  private func hand(
    over request: BackendRequest, _ send: Int, _ process: EngineProcess, after way: Int64
  ) -> Answer {
    let answer = Answer()
    later(way) { [self] in
      handled = send
      defer { handled = nil }
      do {
        let response = try handle(request, process)
        // Of two requests, the reply to the first is already on its way.
        if answer.response == nil { answer.response = response }
      } catch {
        checker.broken(.ownName, "the backend cannot read a request: \(error)")
      }
    }
    // The backend runs before the sender waits, at the same moment.
    return answer
  }

  /// With a tag that identifies the wait in the engine's log.
  private func busy(_ process: EngineProcess) throws -> BackendResponse {
    let seconds = Int64(network.pick([1, 30, 600, 7_200]))
    sendCount += 1
    process.asked[sendCount] = seconds
    let problem = ProblemDocument(type: "busy", title: "tag \(sendCount).", status: 503)
    return BackendResponse(
      status: 503, retryAfter: String(seconds), contentType: "application/problem+json",
      body: try JSONEncoder().encode(problem))
  }

  private func arrived(_ response: BackendResponse, to request: BackendRequest, _ process: EngineProcess) {
    tell(process, "is answered \(response.status)")
    if request.path == "v1/adoptions", let seconds = response.retryAfter.flatMap({ Int64($0) }) {
      // It holds for all lanes, and no event says so.
      process.latestFloor = max(process.latestFloor, queue.now + seconds * 1_200)
    }
    guard request.path == "v1/receipts", response.status == 200, response.contentType == "application/json"
    else { return }
    do {
      for verdict in try JSONDecoder().decode(UploadReply.self, from: response.body).verdicts {
        if process.phone == nil { given[Names.order(verdict.transactionID)].insert(verdict.verdict.rawValue) }
        if process.phone == nil, !verdict.verdict.isSettled {
          leftOpen[Names.order(verdict.transactionID)] = queue.now
        }
        if verdict.verdict == .refunded { checker.mark(.refundedVerdict) }
        if verdict.verdict == .duplicate { checker.mark(.duplicateVerdict) }
        tell(process, "  \(verdict.transactionID) is \(verdict.verdict.rawValue)")
      }
    } catch {
      checker.broken(.ownName, "the backend's reply cannot be read: \(error)")
    }
  }
}
