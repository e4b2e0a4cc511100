package import Foundation

/// The file of a report.
package enum ReportFile {
  /// The command line, quoted for `sh`.
  package static var commandLine: String {
    TypedCommand.line(Array(CommandLine.arguments.dropFirst()), of: .current)
  }

  /// Why no report is written there; nil where it can be. A report replaces regular files only.
  package static func refusal(of path: String) -> String? {
    let target = URL(fileURLWithPath: path).resolvingSymlinksInPath()
    var isFolder: ObjCBool = false
    guard unsafe FileManager.default.fileExists(atPath: target.path, isDirectory: &isFolder) else {
      return isLink(path) ? "it is a link to nothing" : nil
    }
    if path.isEmpty || isFolder.boolValue { return "it is a folder" }
    do {
      let values = try target.resourceValues(forKeys: [.isRegularFileKey])
      return values.isRegularFile == true ? nil : "it is no file"
    } catch {
      return error.localizedDescription
    }
  }

  /// Whether a link is there, wherever it leads.
  private static func isLink(_ path: String) -> Bool {
    do {
      // Without a slash at its end: with one, the path would name the target of the link.
      let place = URL(fileURLWithPath: path).path
      let attributes = try FileManager.default.attributesOfItem(atPath: place)
      return attributes[.type] as? FileAttributeType == .typeSymbolicLink
    } catch {
      return false
    }
  }

  /// Prints why and returns false if it could not be written.
  package static func write(_ report: some ReportContent, to path: String) -> Bool {
    write(to: path) { try ReportPage.html(report) }
  }

  package static func write(to path: String, _ html: () throws -> Data) -> Bool {
    if let reason = refusal(of: path) {
      Terminal.complain("\(path) could not be written: \(reason)")
      return false
    }
    do {
      // Writes to the target of a link and does not replace the link.
      try html().write(to: URL(fileURLWithPath: path).resolvingSymlinksInPath(), options: .atomic)
      return true
    } catch {
      Terminal.complain("\(path) could not be written: \(error.localizedDescription)")
      return false
    }
  }
}

/// A number or a word with its name, on top of a page.
package struct ReportFigure: Encodable, Sendable {
  package var name: String
  package var value: String

  package init(name: String, value: String) { (self.name, self.value) = (name, value) }
}
