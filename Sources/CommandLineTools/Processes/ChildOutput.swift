import Foundation

/// The output of a program that has ended. A pipe has to be able to hold its standard error.
package struct ChildOutput {
  package var status: Int32
  /// Ended by a signal from outside: it did not fail by itself.
  package var wasEnded: Bool
  package var output: String
  package var complaint: String

  /// Runs this binary again, with `input` on its standard input.
  package init(of arguments: [String], input: String = "") throws {
    try self.init(command: [ChildProcess.executable.path] + arguments, input: input)
  }

  /// Runs any program; its path comes first.
  package init(command: [String], input: String = "") throws {
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
    // Reading one after the other cannot block the child: its standard error is short.
    self.output = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
    let told = String(decoding: complaint.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
    self.complaint = told.trimmingCharacters(in: .whitespacesAndNewlines)
    process.waitUntilExit()
    status = process.terminationStatus
    wasEnded =
      process.terminationReason == .uncaughtSignal && [SIGKILL, SIGTERM, SIGINT, SIGHUP].contains(status)
  }

  package var lines: [String] { output.split(separator: "\n").map(String.init) }
}
