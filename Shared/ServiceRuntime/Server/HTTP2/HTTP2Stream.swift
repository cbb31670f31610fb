import NIOCore

/// One request of an HTTP/2 connection, and its answer.
final class HTTP2Stream {
  /// Waits for the body's end; nil once it is answered or being answered.
  var exchange: (any HTTPExchange)?
  var bodyLimit = 0
  var body: BufferedBody?
  var isHead = false
  var isAnswered = false
  /// Whether the peer has said everything.
  var isWhole = false
  /// Of a request that was answered before its end.
  var skippedBytes = 0
  /// When its present state has lasted too long; nil while an answer is being made.
  var deadline: NIODeadline?
  /// Makes the answer; cancelled when nobody waits for it any more.
  var work: Task<Void, Never>?
  var mayBeCancelled = false
}
