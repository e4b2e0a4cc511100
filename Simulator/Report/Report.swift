import CommandLineTools
import Foundation

/// The content of a report: a matrix of cells, and for each cell a time line.
///
/// Written as JSON into the page (`html(_:)`); the page's script reads exactly these names. A subject is shown with
/// the cells whose row or column has its name.
struct Report: Encodable, Sendable {
  /// Such as "purchase-simulator compare".
  var title: String
  /// The command line that made it.
  var command: String
  /// ISO 8601.
  var madeAt: String
  /// Shown before everything else.
  var note: String?
  /// Shown on top.
  var summary: [Figure] = []
  var subjects: [Subject] = []
  /// The names of the matrix, in the order of the page: scenarios and clients, or checkpoints and aftermaths.
  var rows: [String]
  var columns: [String]
  /// In any order. A row and a column without a cell were not run.
  var cells: [Cell]
  var timelines: [Timeline] = []

  typealias Figure = ReportFigure

  /// Explains a scenario, a client or a checkpoint.
  struct Subject: Encodable, Sendable {
    var name: String
    /// One line.
    var summary: String
    var text: String
    /// The weakness of apps that it attacks.
    var attacks: String
    /// Requirements and invariants, by id.
    var proves: [String]
  }

  /// How a cell ended: its colour and its mark.
  enum CellState: String, Encodable, Sendable, CaseIterable {
    case clean
    case lost
    case doubled
    case wrongAccount
    case stuck
    /// The run ran out of time.
    case undecided
    /// Could not be run.
    case failed
    /// Was not run.
    case absent
  }

  /// One row with one column.
  struct Cell: Encodable, Sendable {
    var row: String
    var column: String
    /// The text of the cell, such as "ok" or "1 lost, 2 stuck".
    var words: String
    var state: CellState
    var figures: [Figure] = []
    /// The command that runs it again.
    var replay: String?
    /// Its place in `timelines`.
    var timeline: Int?
    var detail: String?
  }

  /// The events of one run.
  struct Timeline: Encodable, Sendable {
    var title: String
    /// How its time relates to real time, such as "retry delays at 1/1000 of their time".
    var pace: String?
    /// In any order. The page sorts them by time; events of one moment keep their order.
    var events: [Event]
  }

  /// The columns of a time line, in this order.
  enum Lane: String, Codable, Sendable, CaseIterable {
    case person
    case app
    case queue
    case backend
    case store
  }

  /// The kind of an event: its mark and its colour.
  enum Kind: String, Codable, Sendable, CaseIterable {
    case step
    /// A process starts: the lane's life line begins.
    case launch
    /// SIGKILL: the lane's life line ends.
    case kill
    /// A process ends by itself: the lane's life line ends.
    case exit
    case request
    case answer
    case fault
    case retry
    /// Written to disk.
    case commit
    case settled
    case finish
    case charge
    case grant
    /// The store, the backend or the device is changed.
    case change
  }

  struct Event: Encodable, Sendable {
    /// Milliseconds from the start of the run.
    var at: Double
    var lane: Lane
    /// The other end of the arrow.
    var to: Lane?
    var kind: Kind
    /// Short: shown in the diagram.
    var text: String
    /// Long: shown when the reader points at the event.
    var detail: String?
  }
}

extension Report: ReportContent {
  static var template: Data { ReportFiles.report }
}
