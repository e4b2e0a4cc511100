import Foundation

/// Everything that a page of a report shows.
struct Report: Encodable, Sendable {
  enum Lane: String, Codable, Sendable { case person, app, queue, backend, store }
  enum Kind: String, Codable, Sendable {
    case step, launch, kill, exit, request, answer, fault, retry, commit, settled, finish, charge, grant,
      change
  }
  enum CellState: String, Encodable, Sendable {
    case clean, lost, doubled, wrongAccount, stuck, failed, absent
  }
  struct Event: Encodable, Sendable {
    var at: Double
    var lane: Lane
    var to: Lane?
    var kind: Kind
    var text: String
    var detail: String?
  }
  struct Figure: Encodable, Sendable { var name: String; var value: String }
  struct Story: Encodable, Sendable { var name, summary, story, attacks: String; var proves: [String] }
  struct Cell: Encodable, Sendable {
    var row, column, words: String
    var state: CellState
    var figures: [Figure]
    var replay: String?
    var timeline: Int?
    var detail: String?
  }
  struct Timeline: Encodable, Sendable { var title: String; var pace: String?; var events: [Event] }
  var title, command, madeAt: String
  var note: String?
  var stories: [Story]
  var rows, columns: [String]
  var cells: [Cell]
  var timelines: [Timeline]
  var summary: [Figure]
}
enum ReportPage {
  static func html(_ report: Report) throws -> Data { try JSONEncoder().encode(report) }
}
