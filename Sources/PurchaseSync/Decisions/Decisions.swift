/// What the engine decides next to its machine. None of these values does I/O; each has its events, its diagram, and a
/// test that runs without the engine. They know nothing of each other.
struct Decisions {
  /// Where the app is: a machine that is made in the background sends nothing either.
  var presence = Presence()
  var timer: MachineTimer
  var wakes = WakePace()
  var tokens = TokenBook()
  var sheets = OpenSheets()
  var listings = ListingTurns()
  var tray = StoreTray()
  var owners = OwnerQuestions()
  var notices = NoticeRound()
  /// Finishes that wait for a call of the store.
  var finishes = FinishCalls()

  init(beginning: ContinuousClock.Instant) { timer = MachineTimer(beginning: beginning) }

  /// The file is closed. The next machine finds again what is pending.
  mutating func fileClosed() {
    tray.fileClosed()
    finishes = FinishCalls()
  }
}
