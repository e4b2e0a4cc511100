// See Sources/CTestingPages/pages.c.
#pragma clang diagnostic ignored "-Wc23-extensions"

#include "CReportPages.h"

static const unsigned char report[] = {
#embed "../../Simulator/Report/report.html"
};

static const unsigned char explore[] = {
#embed "../purchase-lab/Report/explore.html"
};

static const unsigned char why[] = {
#embed "../purchase-lab/Report/why.html"
};

static const unsigned char fleet[] = {
#embed "../purchase-lab/Report/fleet.html"
};

static const unsigned char style[] = {
#embed "../../Simulator/Report/page.css"
};

static const unsigned char script[] = {
#embed "../../Simulator/Report/page.js"
};

struct ReportPart report_html(void) { return (struct ReportPart){report, sizeof report}; }
struct ReportPart explore_html(void) { return (struct ReportPart){explore, sizeof explore}; }
struct ReportPart why_html(void) { return (struct ReportPart){why, sizeof why}; }
struct ReportPart fleet_html(void) { return (struct ReportPart){fleet, sizeof fleet}; }
struct ReportPart page_css(void) { return (struct ReportPart){style, sizeof style}; }
struct ReportPart page_js(void) { return (struct ReportPart){script, sizeof script}; }
