import Foundation

/// What an upload's answer means: the one place where HTTP becomes a verdict or a failure.
///
/// Only a verdict is final; a bare status never is.
///
/// | answer | means |
/// | --- | --- |
/// | 200 with our JSON | verdicts |
/// | 200 or 403 with anything else (a captive portal's page) | retry |
/// | 401, 403 with problem type `auth` | the lane waits for sign-in |
/// | 408, 425, 429, 5xx, no answer | retry, not before Retry-After |
/// | other 3xx and 4xx | a fault of the backend: retried at the cap's pace |
enum UploadClassification {
  case verdicts(UploadReply)
  case failure(UploadFailure)

  init(_ result: Result<BackendResponse, TransportError>) {
    switch result {
    case .failure(let error): self = .failure(.retry(reason: error.reason, retryAfterMilliseconds: nil))
    case .success(let response): self.init(response)
    }
  }

  private init(_ response: BackendResponse) {
    let problem = Self.decode(ProblemDocument.self, response.body)
    switch response.status {
    case 200:
      if let reply = Self.decode(UploadReply.self, response.body) {
        self = .verdicts(reply)
      } else {
        self = .failure(.retry(reason: "a 200 that is not the backend's", retryAfterMilliseconds: nil))
      }
    case 401:
      self = .failure(.signInNeeded)
    case 403:
      self =
        problem?.type == ProblemDocument.auth
        ? .failure(.signInNeeded)
        : .failure(.retry(reason: "a 403 that is not the backend's", retryAfterMilliseconds: nil))
    case 408, 425, 429, 500...599:
      let wait = response.retryAfter.flatMap { Int64($0) }.map { min(max($0, 0), 86_400) * 1_000 }
      self = .failure(.retry(reason: "HTTP \(response.status)", retryAfterMilliseconds: wait))
    default:
      self = .failure(.backendFault(reason: "HTTP \(response.status) \(problem?.title ?? "")"))
    }
  }

  private static func decode<T: Decodable>(_ type: T.Type, _ body: Data) -> T? {
    do {
      return try JSONDecoder().decode(type, from: body)
    } catch {
      return nil  // Not ours: what that means, the status decides.
    }
  }
}
