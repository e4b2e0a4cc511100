import Testing

@testable import PurchaseSync

@Suite struct TokenBookTests {
  private static let hour = TokenBook.patience

  private func refuse(
    _ token: String, of account: String = "alice", at now: Int64, _ book: inout TokenBook
  ) {
    book.ended(.refused, AccountCredential(account: account, token: token), at: now)
  }

  private func isRefusedForLong(_ token: String, _ book: TokenBook) -> Bool {
    book.isRefusedForLong(AccountCredential(account: "alice", token: token))
  }

  @Test func `only refusals over an hour are for long, and a sign-in begins that hour again`() {
    var book = TokenBook()
    refuse("old", at: 0, &book)
    #expect(!isRefusedForLong("old", book))
    refuse("newer", at: Self.hour - 1, &book)
    #expect(book.refused(of: "alice") == "newer")
    #expect(!isRefusedForLong("newer", book), "one refusal long ago says nothing of now")
    refuse("newer", at: Self.hour, &book)
    #expect(isRefusedForLong("newer", book))
    #expect(!isRefusedForLong("newest", book), "the backend has not seen it")
    book.signedIn("alice")
    #expect(!isRefusedForLong("newer", book))
    refuse("newer", at: 2 * Self.hour - 1, &book)
    #expect(!isRefusedForLong("newer", book))
    refuse("newer", at: 2 * Self.hour, &book)
    #expect(isRefusedForLong("newer", book))
  }

  @Test func `a token that the backend takes ends the refusals of its account alone`() {
    var book = TokenBook()
    refuse("a", at: 0, &book)
    refuse("b", of: "bob", at: 0, &book)
    book.ended(.taken, AccountCredential(account: "alice", token: "a"), at: 1)
    #expect(book.refused(of: "alice") == nil)
    #expect(book.refused(of: "bob") == "b")
  }

  @Test func `no dump shows a token`() {
    var book = TokenBook()
    refuse("secret", at: 0, &book)
    var text = ""
    dump(book, to: &text)
    #expect(!text.contains("secret"))
  }

  private static let alice = AccountCredential(account: "alice", token: "a")
  private static let onDevice = BackendSender.device(.simulated, signedIn: alice)
  private static let byAccount = BackendSender.account(alice, on: .simulated)

  /// What an upload's answer says of a token that was refused before: it is refused, it is taken, or nothing.
  private static let uploads: [(BackendSender, UploadClassification, after: String?)] = [
    (byAccount, .verdicts(UploadReply(ledgerEpoch: "e", verdicts: [])), nil),
    (onDevice, .verdicts(UploadReply(ledgerEpoch: "e", verdicts: [])), nil),
    (byAccount, .failure(.tokenRefused), "a"), (onDevice, .failure(.tokenRefused), "older"),
    (byAccount, .failure(.accountRefused), "older"), (onDevice, .failure(.accountRefused), "a"),
    (onDevice, .failure(.interrupted), "older"),
    (.device(.simulated, signedIn: nil), .failure(.accountRefused), "older"),
  ]

  @Test(arguments: uploads)
  private func `an upload's answer counts for the token that was in it`(
    sender: BackendSender, answer: UploadClassification, after: String?
  ) {
    var book = TokenBook()
    refuse("older", at: 0, &book)
    book.answered(answer, to: sender, at: 1)
    #expect(book.refused(of: "alice") == after)
  }

  @Test func `an upload of the device goes without a token that is refused for long, and not without others`()
  {
    var book = TokenBook()
    refuse("a", at: 0, &book)
    #expect(book.forDevice(.token(Self.alice)) == .token(Self.alice))
    refuse("a", at: Self.hour, &book)
    #expect(book.forDevice(.token(Self.alice)) == .none)
    #expect(book.forDevice(.late) == .late)
  }
}
