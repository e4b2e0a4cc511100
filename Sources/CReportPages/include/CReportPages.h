#pragma once

/// A file of the repository, in the binary for as long as the process runs.
struct ReportPart {
  const unsigned char *_Nonnull bytes;
  long count;
};

/// Simulator/Report/report.html
struct ReportPart report_html(void);

/// Sources/purchase-lab/Report/explore.html
struct ReportPart explore_html(void);

/// Sources/purchase-lab/Report/why.html
struct ReportPart why_html(void);

/// Sources/purchase-lab/Report/fleet.html
struct ReportPart fleet_html(void);

/// Simulator/Report/page.css
struct ReportPart page_css(void);

/// Simulator/Report/page.js
struct ReportPart page_js(void);
