import NIOCore

/// One request of an HTTP/2 connection, and its answer.
final class HTTP2Stream {
  /// The exchange that waits for the body's end; nil once the request is answered or being answered.
  var exchange: (any HTTPExchange)?
  /// The maximum size of the body, bytes.
  var bodyLimit = 0
  var body: BufferedBody?
  /// True for a HEAD request, which is answered without a body.
  var isHead = false
  var isAnswered = false
  /// True if the peer has ended its side of the stream.
  var isWhole = false
  /// Body bytes that were discarded after the request was answered.
  var skippedBytes = 0
  /// The time at which the current state times out; nil while a response without a time limit is being made.
  var deadline: NIODeadline?
  /// The response if the work does not end before ``deadline``; nil if the work has no time limit.
  var lateResponse: (@Sendable () -> HTTPResponse)?
  /// The task that makes the response; cancelled when the stream ends before.
  var work: Task<Void, Never>?
  var mayBeCancelled = false
  /// True if ``work`` is cancelled when the peer closes its sending side of the connection.
  var endsAtInputEnd = false
}
