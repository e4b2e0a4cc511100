/// What `--report` shows of a run: a matrix of cells, and for each of them what happened when.
///
/// Written as JSON into the page (`html(_:)`); the page's script reads exactly these names. Cells and stories
/// belong together by name: a story is shown with the cells whose row or column has its name.
struct Report: Encodable, Sendable {
  /// Such as "purchase-simulator compare".
  var title: String
  /// The line that made it.
  var command: String
  /// ISO 8601.
  var madeAt: String
  /// What a reader should know before all else.
  var note: String?
  /// Shown on top.
  var summary: [Figure] = []
  var stories: [Story] = []
  /// The matrix's names, in the order of the page: scenarios and clients, or failpoints and fates.
  var rows: [String]
  var columns: [String]
  /// In any order. Where a row and a column have no cell, nothing was run.
  var cells: [Cell]
  var timelines: [Timeline] = []

  /// A number or word with its name.
  struct Figure: Encodable, Sendable {
    var name: String
    var value: String
  }

  /// What a scenario, a client or a failpoint is about.
  struct Story: Encodable, Sendable {
    var name: String
    /// One line.
    var summary: String
    var story: String
    /// What it attacks.
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
    /// Could not be run.
    case failed
    /// Was not run.
    case absent
  }

  /// One row with one column.
  struct Cell: Encodable, Sendable {
    var row: String
    var column: String
    /// What the cell says, such as "ok" or "1 lost, 2 stuck".
    var words: String
    var state: CellState
    var figures: [Figure] = []
    /// The command that runs it again.
    var replay: String?
    /// Its place in `timelines`.
    var timeline: Int?
    var detail: String?
  }

  /// What happened in one run.
  struct Timeline: Encodable, Sendable {
    var title: String
    /// How its time relates to time in life, such as "retry delays at 1/1000 of their time".
    var pace: String?
    /// In any order; the page orders them by time, and leaves those of one moment as they are.
    var events: [Event]
  }

  /// Who does something; the columns of a time line, in this order.
  enum Lane: String, Codable, Sendable, CaseIterable {
    case person
    case app
    case queue
    case backend
    case store
  }

  /// What an event is: its mark and its colour.
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
    /// The store, the backend or the device is no longer what it was.
    case change
  }

  struct Event: Encodable, Sendable {
    /// Milliseconds from the start of the run.
    var at: Double
    var lane: Lane
    /// Whom it reaches: drawn as an arrow.
    var to: Lane?
    var kind: Kind
    /// Short: what the diagram says.
    var text: String
    /// Long: what is shown when somebody points at the event.
    var detail: String?
  }
}
