import Foundation

/// What a program said until it ended: a few lines, which a pipe holds.
struct ChildOutput {
  var status: Int32
  /// By a signal of somebody else's: it did not fail by itself.
  var wasEnded: Bool
  var output: String
  var complaint: String

  /// Runs this binary again, with `input` on its standard input.
  init(of arguments: [String], input: String = "") throws {
    try self.init(command: [ChildProcess.executable.path] + arguments, input: input)
  }

  /// Runs any program, of which the path comes first.
  init(command: [String], input: String = "") throws {
    let process = Process()
    let (source, output, complaint) = (Pipe(), Pipe(), Pipe())
    process.executableURL = URL(fileURLWithPath: command[0])
    process.arguments = Array(command.dropFirst())
    process.standardInput = source
    process.standardOutput = output
    process.standardError = complaint
    try Interruption.shared.check()
    try process.begin()
    Children.shared.add(process)
    defer { Children.shared.remove(process) }
    try source.fileHandleForWriting.write(contentsOf: Data(input.utf8))
    try source.fileHandleForWriting.close()
    // Reading one after the other cannot block the child, whose complaints are short.
    self.output = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
    let told = String(decoding: complaint.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
    self.complaint = told.trimmingCharacters(in: .whitespacesAndNewlines)
    process.waitUntilExit()
    status = process.terminationStatus
    wasEnded =
      process.terminationReason == .uncaughtSignal && [SIGKILL, SIGTERM, SIGINT, SIGHUP].contains(status)
  }

  var lines: [String] { output.split(separator: "\n").map(String.init) }
}
