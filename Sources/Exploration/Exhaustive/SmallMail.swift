import PurchaseSync

/// The requests and answers of a search, each kind by number.
final class SmallMail {
  private(set) var requests: [SmallRequest] = []
  private(set) var answers: [UploadReply] = []
  private var numbers: [SmallRequest: Int] = [:]
  private var answerNumbers: [UploadReply: Int] = [:]

  func number(of request: SmallRequest) -> Int {
    if let known = numbers[request] { return known }
    requests.append(request)
    numbers[request] = requests.count - 1
    return requests.count - 1
  }

  func number(of answer: UploadReply) -> Int {
    if let known = answerNumbers[answer] { return known }
    answers.append(answer)
    answerNumbers[answer] = answers.count - 1
    return answers.count - 1
  }
}

/// One request on its way, or its answer on the way back, in 12 bits.
struct SmallLetter: Hashable {
  static let bits = 12
  static let mostRequests = 63
  static let mostAnswers = 15

  /// Never 0.
  let code: UInt64

  init(code: UInt64) { self.code = code }

  /// `answer`: its number; -1 before the backend has the request.
  init(_ request: Int, from device: Int, isAwaited: Bool, answer: Int = -1) {
    code = UInt64((request + 1) << 6 | (answer + 1) << 2 | (isAwaited ? 2 : 0) | device)
  }

  var request: Int { Int(code >> 6) - 1 }
  var answer: Int { Int(code >> 2 & 15) - 1 }
  var device: Int { Int(code & 1) }
  /// Whether a process still waits for the answer.
  var isAwaited: Bool { code & 2 != 0 }

  var orphan: SmallLetter { SmallLetter(request, from: device, isAwaited: false, answer: answer) }
  func with(answer: Int) -> SmallLetter {
    SmallLetter(request, from: device, isAwaited: isAwaited, answer: answer)
  }
}
