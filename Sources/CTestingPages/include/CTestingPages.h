#pragma once

/// A file of the repository, in the binary for as long as the process runs.
struct TestingPage {
  const unsigned char *_Nonnull bytes;
  long count;
};

/// Sources/PurchaseSyncTesting/Pages/status.html
struct TestingPage testing_status_html(void);

/// Sources/PurchaseSyncTesting/OpenAPI/openapi.json
struct TestingPage testing_openapi_json(void);
