// The C compiler embeds a file in no time. As an array in Swift, which is what SwiftPM's `.embedInCode` makes of it,
// openapi.json took two thirds of the optimised build of its module.
#pragma clang diagnostic ignored "-Wc23-extensions"

#include "CTestingPages.h"

static const unsigned char status_html[] = {
#embed "../PurchaseSyncTesting/Pages/status.html"
};

static const unsigned char openapi_json[] = {
#embed "../PurchaseSyncTesting/OpenAPI/openapi.json"
};

struct TestingPage testing_status_html(void) {
  return (struct TestingPage){status_html, sizeof status_html};
}

struct TestingPage testing_openapi_json(void) {
  return (struct TestingPage){openapi_json, sizeof openapi_json};
}
