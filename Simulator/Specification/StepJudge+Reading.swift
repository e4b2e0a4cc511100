import Foundation

extension StepJudge {
  /// Decodes all lines. A kill may cut one line of its process off.
  mutating func read(_ texts: [String]) throws(Refusal) -> [(number: Int, line: StepLine)] {
    let decoder = JSONDecoder()
    var lines: [(number: Int, line: StepLine)] = []
    var torn: [Int] = []
    var kills = 0
    for (place, text) in texts.enumerated() {
      do {
        let line = try decoder.decode(StepLine.self, from: Data(text.utf8))
        lines.append((place + 1, line))
        if case .died(let process, true, _, _) = line.event {
          kills += 1
          lastLines[process] = lines.last { $0.line.by == process }?.number ?? 0
        }
        if case .killed = line.event { kills += 1 }
      } catch {
        torn.append(place + 1)
      }
    }
    guard torn.count <= kills else {
      line = torn[0]
      throw .noSense("'\(texts[torn[0] - 1].prefix(60))' is no line of a trace")
    }
    return lines
  }
}
