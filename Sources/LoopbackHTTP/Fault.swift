/// A fault of the server with one request.
///
/// A fault is chosen once the whole request has been read and found well formed. "Closed" means that
/// the client sees an orderly end of the stream (FIN), except for `reset`. Times are in
/// milliseconds, negative ones count as zero, and `HTTPServer.stop()` ends any wait at once.
package enum Fault: Sendable, Hashable {
  /// The connection is closed without a byte; the handler is not called.
  case dropBeforeCommit
  /// The handler is called; the connection is closed without a byte of its answer.
  case dropAfterCommit
  /// This answer is sent and the handler is not called, for example 503 of an overloaded backend or the page of a
  /// captive portal. The connection stays usable.
  case respond(HTTPResponse)
  /// After this time the handler is called and answers as usual.
  case delay(milliseconds: Int)
  /// The handler is called; the connection is reset (RST) without a byte of its answer.
  case reset
  /// The handler is called; the head of its answer promises the whole body, of which only the first
  /// so many bytes follow before the connection is closed.
  case truncate(bytes: Int)
  /// The handler is called; nothing is sent for so long, or until the client closes its side or the
  /// server stops. Then the connection is closed.
  case stall(milliseconds: Int)
  /// The handler is called twice, as when something on the way delivers a request again; its second answer is sent.
  case deliverTwice
  /// The handler is called; its answer's Content-Length is wrong by so many bytes. With more than there are, the
  /// connection is closed when the body is over; with fewer, what is left stands where the next answer belongs.
  case wrongLength(by: Int)
  /// The handler is called; its answer comes in pieces of so many bytes, with a pause after each.
  case dribble(bytes: Int, milliseconds: Int)
  /// These bytes are sent in place of an HTTP answer and the connection is closed; the handler is
  /// not called.
  case garbage([UInt8])
}
