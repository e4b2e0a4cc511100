import CommandLineTools
package import Foundation

/// Loads a page in headless Chromium.
package enum Browser {
  package static let path = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"]
    .first { FileManager.default.isExecutableFile(atPath: $0) }

  package struct Page {
    package var dom: String
    /// Errors of scripts and violations of policies.
    package var complaints: [String]
  }

  /// The page after its scripts have run for two seconds of virtual time.
  package static func page(_ url: String, width: Int, _ directory: String, flags: [String] = []) throws
    -> Page
  {
    let process = Process()
    let output = Pipe()
    let log = directory + "/log"
    try Data().write(to: URL(fileURLWithPath: log))
    process.executableURL = URL(fileURLWithPath: path ?? "")
    process.arguments =
      [
        "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run",
        "--user-data-dir=" + directory + "/profile", "--window-size=\(width),800", "--enable-logging=stderr",
        "--virtual-time-budget=2000",
      ] + flags + ["--dump-dom", url]
    process.standardOutput = output
    process.standardError = try FileHandle(forWritingTo: URL(fileURLWithPath: log))
    try process.begin()
    let dom = output.fileHandleForReading.readDataToEndOfFile()
    process.waitUntilExit()
    let lines = try String(contentsOfFile: log, encoding: .utf8).split(separator: "\n").map(String.init)
    return Page(
      dom: String(decoding: dom, as: UTF8.self), complaints: lines.filter { $0.contains(":CONSOLE") })
  }

  /// A page in a frame of exactly that width: windows of Chromium have at least 500 pixels.
  ///
  /// Returns the frame's document after its scripts have run; `fragment` is the part after `#`.
  package static func framedPage(
    _ html: Data, fragment: String = "", width: Int, _ directory: String
  ) throws -> Page {
    try html.write(to: URL(fileURLWithPath: directory + "/page.html"))
    let frame = """
      <!doctype html><body style="margin:0">
      <iframe src="page.html#\(fragment)" width="\(width)" height="800" style="border:0"></iframe><script>
      setTimeout(() => {
        const page = document.querySelector("iframe").contentDocument.documentElement;
        document.replaceChild(document.adoptNode(page), document.documentElement);
      }, 1500);
      </script>
      """
    try Data(frame.utf8).write(to: URL(fileURLWithPath: directory + "/frame.html"))
    return try Self.page(
      URL(fileURLWithPath: directory + "/frame.html").absoluteString, width: max(500, width), directory,
      // One file may look into the other.
      flags: ["--allow-file-access-from-files"])
  }
}
