import CReportPages
import Foundation

/// The parts of the report's pages. They are in the binary: no folder has to lie next to it.
enum ReportFiles {
  static var report: Data { unsafe data(report_html()) }
  static var explore: Data { unsafe data(explore_html()) }
  static var why: Data { unsafe data(why_html()) }
  static var fleet: Data { unsafe data(fleet_html()) }
  static var style: Data { unsafe data(page_css()) }
  static var script: Data { unsafe data(page_js()) }

  private static func data(_ file: ReportPart) -> Data { unsafe Data(bytes: file.bytes, count: file.count) }
}
