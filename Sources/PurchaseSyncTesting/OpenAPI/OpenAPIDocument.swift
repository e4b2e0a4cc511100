public import Foundation

/// The wire protocol, version 1, as an OpenAPI 3.1 document: the contract of every backend.
public enum OpenAPIDocument {
  /// The document, as the server has it at `/openapi.json`.
  public static var json: Data { Data(ServerPages.openAPI) }
}
