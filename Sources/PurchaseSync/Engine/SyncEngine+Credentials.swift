import Foundation
import PurchaseQueue

/// The credentials of requests.
extension SyncEngine {
  /// The token of this account, also when another one is signed in. `isCurrent`: an earlier question, which began before the
  /// account may have signed in, does not say that there is none.
  func credential(of account: String, isCurrent: Bool = false) async -> CredentialAnswer {
    guard !Task.isCancelled else { return .late }
    switch decisions.tokens.needed(of: account, at: uptime) {
    case .take(let credential): return .token(credential)
    case .join(let number):
      let answer = await answer(to: number, of: account)
      return isCurrent && answer == .none ? await credential(of: account) : answer
    case .ask(let number):
      ask(number, of: account)
      return await answer(to: number, of: account)
    }
  }

  /// A closure of the app may hang, as a store may.
  private func ask(_ number: Int, of account: String) {
    let credentials = ports.credentials
    let limit = limit(configuration.credentialTimeLimit, of: .credentials, about: account)
    let request = CredentialRequest(account: account, refusedToken: decisions.tokens.refused(of: account))
    saw(.calls(.credentials))
    let task = Task {
      let answer = await limit.answer { () async -> String?? in
        let token = await credentials(request)
        // One that ends because it was left behind has not returned.
        return token == nil && Task.isCancelled ? nil : .some(token)
      }
      self.ended(number, of: account, CredentialAnswer(answer, of: account))
    }
    tokenCallers.asked(number, task)
  }

  private func ended(_ number: Int, of account: String, _ answer: CredentialAnswer) {
    decisions.tokens.answered(number, of: account, answer, at: uptime)
    tokenCallers.ended(number, answer)
  }

  /// A caller that is cancelled waits no longer. The question goes on for the others.
  private func answer(to number: Int, of account: String) async -> CredentialAnswer {
    for await answer in tokenCallers.wait(for: number) { return answer }
    if tokenCallers.leaves(number) { decisions.tokens.answered(number, of: account, .late, at: uptime) }
    return .late
  }

  /// The identity of this installation's device; nil while the vault that holds it is locked.
  func identity(in file: SyncFile) throws(QueueError) -> DeviceIdentity? {
    let uuid = configuration.system.uuid
    return try file.identity { DeviceIdentity(from: uuid) }
  }

  /// The credential of an account that asks for its orders.
  func token(of account: String) async throws(SyncError) -> AccountCredential {
    switch await credential(of: account, isCurrent: true) {
    case .token(let credential): return credential
    case .none: throw .signInNeeded(account: account)
    case .late: throw .backendUnreachable(reason: "the credentials did not come in time")
    }
  }
}

extension CredentialAnswer {
  /// `answer`: as the time limit passes it on.
  fileprivate init(_ answer: String??, of account: String) {
    switch answer {
    case .some(.some(let token)): self = .token(AccountCredential(account: account, token: token))
    case .some(.none): self = .none
    case .none: self = .late
    }
  }
}

/// The questions for tokens that are under way, and who waits for their answers.
struct CredentialCallers {
  private struct Question {
    var task: Task<Void, Never>
    var callers: [AsyncStream<CredentialAnswer>.Continuation] = []
    /// How many of them still wait.
    var waiting = 0
  }

  private var questions: [Int: Question] = [:]

  mutating func asked(_ number: Int, _ task: Task<Void, Never>) { questions[number] = Question(task: task) }

  /// One more caller. Nothing comes from a question that has ended.
  mutating func wait(for number: Int) -> AsyncStream<CredentialAnswer> {
    let (answers, caller) = AsyncStream.makeStream(of: CredentialAnswer.self)
    questions[number]?.callers.append(caller)
    questions[number]?.waiting += 1
    return answers
  }

  /// A caller waits no longer. True if it was the last one: then the question is cancelled.
  mutating func leaves(_ number: Int) -> Bool {
    questions[number]?.waiting -= 1
    guard let question = questions[number], question.waiting == 0 else { return false }
    question.task.cancel()
    questions[number] = nil
    return true
  }

  mutating func ended(_ number: Int, _ answer: CredentialAnswer) {
    for caller in questions.removeValue(forKey: number)?.callers ?? [] { caller.yield(answer) }
  }
}
