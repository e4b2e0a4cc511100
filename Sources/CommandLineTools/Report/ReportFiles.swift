import CReportPages
package import Foundation

/// The parts of the report's pages. They are in the binary: no folder has to lie next to it.
package enum ReportFiles {
  package static var report: Data { unsafe data(report_html()) }
  package static var explore: Data { unsafe data(explore_html()) }
  package static var why: Data { unsafe data(why_html()) }
  package static var fleet: Data { unsafe data(fleet_html()) }
  package static var style: Data { unsafe data(page_css()) }
  package static var script: Data { unsafe data(page_js()) }

  private static func data(_ file: ReportPart) -> Data { unsafe Data(bytes: file.bytes, count: file.count) }
}
