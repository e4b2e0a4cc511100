import CTestingPages

/// The files that the server serves. They are in the binary: no folder has to lie next to it.
enum ServerPages {
  static var status: [UInt8] { unsafe bytes(testing_status_html()) }
  static var openAPI: [UInt8] { unsafe bytes(testing_openapi_json()) }

  private static func bytes(_ page: TestingPage) -> [UInt8] {
    unsafe Array(UnsafeBufferPointer(start: page.bytes, count: page.count))
  }
}
