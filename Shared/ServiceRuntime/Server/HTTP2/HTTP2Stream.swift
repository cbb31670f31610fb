import NIOCore

/// The state of one stream of an HTTP/2 connection: a request and its response.
final class HTTP2Stream {
  /// The exchange that waits for the end of the body; nil once the request is being answered.
  var exchange: (any HTTPExchange)?
  /// The maximum size of the body, bytes.
  var bodyLimit = 0
  var body: BufferedBody?
  /// True for a request with the method HEAD, whose response is sent without its body.
  var isHeadRequest = false
  var isAnswered = false
  /// True if the peer has ended its side of the stream, so that the request is complete.
  var isComplete = false
  /// Body bytes that were discarded after the request was answered.
  var skippedBytes = 0
  /// The time at which the current state times out; nil while a response without a time limit is being made.
  var deadline: NIODeadline?
  /// Makes the response if the work does not end before ``deadline``; nil if the work has no time limit.
  var lateResponse: (@Sendable () -> HTTPResponse)?
  /// The task that makes the response; nil if there is none.
  var work: Task<Void, Never>?
  /// True if ``work`` is cancelled when the stream ends before it.
  var mayBeCancelled = false
  /// True if ``work`` is cancelled when the peer closes its sending side of the connection.
  var endsAtInputEnd = false
}
