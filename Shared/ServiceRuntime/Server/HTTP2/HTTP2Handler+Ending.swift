import NIOCore
import NIOHTTP2

/// The end of a connection: the phases of ``HTTP2Handler/Phase``.
extension HTTP2Handler {
  /// Sends a GOAWAY with the highest stream id, so that requests that the peer sends before it has read the GOAWAY are still answered.
  func beginEnding(_ context: ChannelHandlerContext) {
    guard phase == .open else { return }
    phase = .ending
    write(.goAway(lastStreamID: .maxID, errorCode: .noError, opaqueData: nil), .rootStream, context)
    write(.ping(HTTP2PingData(withInteger: 0), ack: false), .rootStream, context)
    context.flush()
    endingDeadline = .now() + Self.endingTime
    scheduleTimer(for: endingDeadline, context)
  }

  /// Sends the final GOAWAY, after the peer has read the first one or has not read it in time.
  func end(_ context: ChannelHandlerContext) {
    guard phase == .ending else { return }
    phase = .ended
    endingDeadline = .distantFuture
    write(.goAway(lastStreamID: lastStream, errorCode: .noError, opaqueData: nil), .rootStream, context)
    context.flush()
    closeIfDone(context)
  }

  /// Closes the connection if it is in its last phase and no stream is open.
  func closeIfDone(_ context: ChannelHandlerContext) {
    if phase == .ended, streams.isEmpty { close(.noError, context) }
  }

  /// Sends a GOAWAY with the code, and closes the connection when everything written has been sent, because closing discards unsent data.
  func close(_ code: HTTP2ErrorCode, _ context: ChannelHandlerContext) {
    guard phase != .closed else { return }
    phase = .closed
    for stream in streams.values { abandon(stream) }
    streams.removeAll()
    let sent = context.eventLoop.makePromise(of: Void.self)
    let bound = NIOLoopBound(context, eventLoop: context.eventLoop)
    sent.futureResult.whenComplete { _ in bound.value.close(promise: nil) }
    let goAway = HTTP2Frame(
      streamID: .rootStream, payload: .goAway(lastStreamID: lastStream, errorCode: code, opaqueData: nil))
    context.write(wrapOutboundOut(goAway), promise: sent)
    turn.flush(context)
    // If the peer does not read, the connection is closed at this deadline.
    endingDeadline = .now() + Self.endingTime
    scheduleTimer(for: endingDeadline, context)
  }
}
