package import CommandLineTools
package import Foundation

extension Program {
  /// The folder of the test bundle and of the executables.
  package static var products: URL {
    let argument = ProcessInfo.processInfo.arguments.first { $0.hasSuffix(".xctest") }
    return URL(fileURLWithPath: argument ?? CommandLine.arguments[0]).deletingLastPathComponent()
  }

  /// The executable that was built with the tests, or the one of the folder that `PURCHASE_SYNC_PROGRAMS` names: CI's long
  /// run takes optimised ones.
  package var binary: URL {
    let folder = ProcessInfo.processInfo.environment["PURCHASE_SYNC_PROGRAMS"].map {
      URL(fileURLWithPath: $0)
    }
    return (folder ?? Self.products).appendingPathComponent(rawValue)
  }

  /// The exit code of a command with changed streams, such as `>&-`.
  package func status(of command: String, _ streams: String) throws -> Int32 {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/bin/sh")
    process.arguments = ["-c", "exec \"$0\" \(command) \(streams)", binary.path]
    try process.begin()
    process.waitUntilExit()
    return process.terminationStatus
  }

  /// Starts a command, with its temporary files in a folder of the test.
  package func start(_ arguments: [String], in directory: String) throws -> (Process, Pipe) {
    let process = Process()
    let output = Pipe()
    process.executableURL = binary
    process.arguments = arguments
    var environment = ProcessInfo.processInfo.environment
    environment["TMPDIR"] = directory
    process.environment = environment
    process.standardOutput = output
    process.standardError = FileHandle.nullDevice
    try process.begin()
    return (process, output)
  }
}

/// The result of running a program.
package struct CommandResult {
  package var status: Int32
  package var output: String
  package var errors: String

  /// Runs it to its end, with `input` on its standard input.
  package init(of arguments: [String], by program: Program = .simulator, input: Data = Data()) throws {
    let process = Process()
    let (output, errors, source) = (Pipe(), Pipe(), Pipe())
    process.executableURL = program.binary
    process.arguments = arguments
    process.standardOutput = output
    process.standardError = errors
    process.standardInput = source
    try process.begin()
    try source.fileHandleForWriting.write(contentsOf: input)
    try source.fileHandleForWriting.close()
    let text = output.fileHandleForReading.readDataToEndOfFile()
    let complaints = errors.fileHandleForReading.readDataToEndOfFile()
    process.waitUntilExit()
    status = process.terminationStatus
    self.output = String(decoding: text, as: UTF8.self)
    self.errors = String(decoding: complaints, as: UTF8.self)
  }
}
