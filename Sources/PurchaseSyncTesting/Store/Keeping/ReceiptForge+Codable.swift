import Foundation

extension ReceiptForge: Codable {
  private enum CodingKeys: CodingKey { case bundleID }

  /// A forge for the app. Its keys are given at each start, see `StoreModel.resume(as:)`.
  public init(from decoder: any Decoder) throws {
    let fields = try decoder.container(keyedBy: CodingKeys.self)
    self.init(bundleID: try fields.decode(String.self, forKey: .bundleID))
  }

  /// Keys of signers are in no file of the store.
  public func encode(to encoder: any Encoder) throws {
    var fields = encoder.container(keyedBy: CodingKeys.self)
    try fields.encode(bundleID, forKey: .bundleID)
  }
}
