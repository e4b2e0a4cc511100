import AppStoreReceipts
import Foundation

/// What a forge with real signatures signs with. For the testing kit only, never for a product: see ``TestKeys``.
struct SigningIdentity: Sendable, Hashable {
  let broken: BrokenProof?
  /// Whether nothing is unusual about the chain.
  private let isPlain: Bool
  let transactions: TestChain
  let receipts: TestChain
  /// The header of each JWS in base64url: it depends on nothing else.
  let header: String

  /// Signs the certificates, which takes some milliseconds in a debug build.
  init(responder: String?, broken: BrokenProof? = nil, age: ChainAge = .current) {
    (self.broken, isPlain) = (broken, broken == nil && age == .current)
    transactions = TestChain(.transactions, responder: responder, broken: broken, age: age)
    receipts = TestChain(.receipts, responder: responder, broken: broken)
    var certificates = [transactions.leaf, transactions.intermediate]
    if broken != .shortChain { certificates.append(transactions.root) }
    let algorithm =
      switch broken {
      case .wrongAlgorithm: "HS256"
      case .unsigned: "none"
      default: "ES256"
      }
    var header: [String: JSONValue] = [
      "alg": .string(algorithm),
      "x5c": .array(certificates.map { .string(Data($0).base64EncodedString()) }),
    ]
    header[BrokenProof.headerMember] = broken.map { .string($0.rawValue) }
    self.header = Base64URL.encode(Data(JSONValue.object(header).text.utf8))
  }

  /// A JWS around a payload.
  func sign(payload: String) -> String {
    let head = header + "." + Base64URL.encode(Data(payload.utf8))
    let signature = Base64URL.encode(Data(signature(of: Array(head.utf8))))
    guard broken == .tamperedPayload else { return head + "." + signature }
    return header + "." + Base64URL.encode(Data(Self.tampered(payload).utf8)) + "." + signature
  }

  private func signature(of message: [UInt8]) -> [UInt8] {
    switch broken {
    case .unsigned: []
    // The known attack on libraries that take the algorithm from the header: the public key becomes a password.
    case .wrongAlgorithm: SHA256.authentication(of: message, key: Array(Self.publicKeyPEM.utf8))
    case .wrongRoot, .pastedRoot: TestKeys.stranger.signature(of: message)
    default: TestKeys.transactions.signature(of: message)
    }
  }

  private static var publicKeyPEM: String {
    let key = TestCertificate.Subject.es256(TestKeys.transactions.publicKey).node.encoded()
    let text = Data(key).base64EncodedString(options: [.lineLength64Characters, .endLineWithLineFeed])
    return "-----BEGIN PUBLIC KEY-----\n\(text)\n-----END PUBLIC KEY-----\n"
  }

  /// More of what was bought; without a quantity, a moment that is later by a second.
  private static func tampered(_ payload: String) -> String {
    var members: [String: JSONValue]
    do throws(ReceiptDecodingError) {
      members = try JSONValue(json: Data(payload.utf8)).object ?? [:]
    } catch {
      // Any other text is another text with one more character.
      return payload + " "
    }
    let isPurchase = members["quantity"] != nil
    members[isPurchase ? "quantity" : "tampered"] = isPurchase ? 100 : true
    return JSONValue.object(members).text
  }

  /// Refuses each text that no forge under the test root has signed as it is.
  func check(_ jws: String) throws(ProofRefusal) {
    let parts = jws.split(separator: ".", omittingEmptySubsequences: false)
    guard parts.count == 3, let signature = Base64URL.decode(parts[2]),
      // Compared as text: base64url of 64 bytes has spare bits, and a changed one is an altered text as well.
      Base64URL.encode(signature) == parts[2]
    else { throw .malformed }
    // The chain is this forge's own, and valid in all years.
    var leaf = (key: TestKeys.transactions.publicKey, isRevoked: false)
    if !isPlain || parts[0] != header {
      leaf = try CertificateCheck(header: parts[0], payload: parts[1]).key()
    }
    let message = Array((parts[0] + "." + parts[1]).utf8)
    guard leaf.key.isSignature(Array(signature), of: message) else { throw .signature }
    // Last: nothing else is against a text that is refused for this.
    guard !leaf.isRevoked else { throw .revoked }
  }
}
