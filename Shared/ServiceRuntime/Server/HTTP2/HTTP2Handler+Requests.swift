import NIOCore
import NIOHPACK
import NIOHTTP2

/// Requests and their responses. A stream passes ``begin(_:_:_:_:)`` with its head, ``respond(_:_:_:)`` with its body, and
/// ``send(_:_:_:_:)`` with its response.
extension HTTP2Handler {
  // MARK: Requests

  func receive(_ headers: HTTP2Frame.FramePayload.Headers, _ id: HTTP2StreamID, _ context: ChannelHandlerContext) {
    guard phase != .closed else { return }
    if let stream = streams[id] {
      // Headers on an open stream are trailers, which are ignored.
      if headers.endStream { endRequest(stream, id, context) }
      return
    }
    lastStream = max(lastStream, id)
    guard streams.count < limits.streams, phase != .ended else {
      refuse(id, context)
      return
    }
    idleDeadline = .distantFuture
    let stream = HTTP2Stream()
    stream.isComplete = headers.endStream
    streams[id] = stream
    begin(headers.headers, stream, id, context)
  }

  func begin(_ fields: HPACKHeaders, _ stream: HTTP2Stream, _ id: HTTP2StreamID, _ context: ChannelHandlerContext) {
    let head = HTTP2RequestHead(fields)
    stream.isHeadRequest = head.method == "HEAD"
    let request = IncomingRequest(method: head.method, target: head.target, headers: head.headers, peer: peer, isHTTP2: true)
    guard head.isSafe, HTTPToken.isToken(head.method) else {
      registry.add("attribution_http_rejected_total", 1, ["malformed"])
      var response = HTTPResponse(status: 400)
      response.requestId = RequestID.usable(request.requestId)
      send(response, stream, id, context)
      return
    }
    if let refusal = request.refusal(limits, target: head.target) {
      registry.add("attribution_http_rejected_total", 1, [refusal.cause])
      var response = HTTPResponse(status: refusal.status)
      response.requestId = RequestID.usable(request.requestId)
      self.send(response, stream, id, context)
      return
    }
    switch responder.begin(request) {
    case .response(let response): self.send(response, stream, id, context)
    case .body(let limit, let exchange):
      if request.announcesMore(than: limit) {
        send(exchange.refuse(.tooLarge), stream, id, context)
        return
      }
      stream.exchange = exchange
      stream.bodyLimit = limit
      stream.mayBeCancelled = exchange.abandonment != .finishes
      stream.endsAtInputEnd = exchange.abandonment == .isCancelledAtInputEnd
      if stream.isComplete {
        respond(stream, id, context)
      } else {
        setDeadline(of: stream, in: exchange.bodyTime(times.body), context)
      }
    }
  }

  func receive(_ part: HTTP2Frame.FramePayload.Data, _ id: HTTP2StreamID, _ context: ChannelHandlerContext) {
    guard let stream = streams[id], case .byteBuffer(let buffer) = part.data else { return }
    if let exchange = stream.exchange {
      if stream.body == nil { stream.body = BufferedBody(bodies, peer: exchange.peer) }
      if let error = stream.body!.add(buffer, limit: stream.bodyLimit) {
        stream.isComplete = part.endStream
        send(exchange.refuse(error), stream, id, context)
        return
      }
    } else {
      // The request was answered already, so the rest of its body is discarded.
      stream.skippedBytes += buffer.readableBytes
      if stream.skippedBytes > Self.maxSkippedBytes, !part.endStream {
        reset(id, .noError, context)
        return
      }
    }
    if part.endStream { endRequest(stream, id, context) }
  }

  /// Called when the peer has ended its side of the stream.
  private func endRequest(_ stream: HTTP2Stream, _ id: HTTP2StreamID, _ context: ChannelHandlerContext) {
    guard !stream.isComplete else { return }
    stream.isComplete = true
    if stream.exchange != nil { respond(stream, id, context) }
  }

  func respond(_ stream: HTTP2Stream, _ id: HTTP2StreamID, _ context: ChannelHandlerContext) {
    guard let exchange = stream.exchange else { return }
    stream.exchange = nil
    stream.deadline = nil
    // The body stays in memory while the request waits for Redis, so its reservation is kept until the response is made.
    if stream.body == nil { stream.body = BufferedBody(bodies, peer: exchange.peer) }
    let bytes = stream.body!.take()
    let reservation = stream.body!.reservation
    switch exchange.respond(to: bytes, reservation) {
    case .now(let response): self.send(response, stream, id, context)
    case .later(let work), .waiting(let work): start(work, stream, reservation, id, context)
    case .waitingAtMost(let time, let late, let work):
      stream.lateResponse = late
      setDeadline(of: stream, in: TimeAmount(time), context)
      start(work, stream, reservation, id, context)
    case .coalesced(let work, let response):
      turn.perform(work) { self.send(response(), stream, id, context) }
    }
  }

  /// Starts work in a task. The body's memory stays reserved until the work ends, even if a late response was sent before.
  private func start(
    _ work: @escaping @Sendable () async -> HTTPResponse, _ stream: HTTP2Stream, _ reservation: BodyReservation, _ id: HTTP2StreamID,
    _ context: ChannelHandlerContext
  ) {
    let bound = NIOLoopBound((self, context, stream, reservation), eventLoop: context.eventLoop)
    let loop = context.eventLoop
    stream.work = Task {
      let response = await work()
      loop.execute {
        let (handler, context, stream, _) = bound.value
        stream.work = nil
        handler.send(response, stream, id, context)
      }
    }
  }

  // MARK: Responses

  func send(_ response: HTTPResponse, _ stream: HTTP2Stream, _ id: HTTP2StreamID, _ context: ChannelHandlerContext) {
    // The response of work that ends after its deadline is dropped, because the request was answered already.
    guard streams[id] === stream, !stream.isAnswered, phase != .closed else { return }
    stream.exchange = nil
    stream.lateResponse = nil
    stream.body = nil
    stream.isAnswered = true
    let withoutBody = stream.isHeadRequest || response.body.isEmpty
    var fields = HPACKHeaders()
    fields.reserveCapacity(response.headers.count + 4)
    fields.add(name: ":status", value: String(response.status))
    for (name, value) in response.headers where HTTP1Response.isSafe(value) && HTTPToken.isToken(name) {
      fields.add(name: name.lowercased(), value: value)
    }
    if let requestId = response.requestId, HTTP1Response.isSafe(requestId) { fields.add(name: "x-request-id", value: requestId) }
    fields.add(name: "content-length", value: String(response.body.count))
    fields.add(name: "date", value: date.value())
    // The last data frame has END_STREAM. If an empty frame with END_STREAM followed, a peer that counts bytes could reset the stream
    // before that frame.
    write(.headers(.init(headers: fields, endStream: withoutBody)), id, context)
    if !withoutBody {
      write(.data(.init(data: .byteBuffer(context.channel.allocator.buffer(bytes: response.body)), endStream: true)), id, context)
    }
    // The time limit for the peer to receive the response, or to send the rest of its request.
    setDeadline(of: stream, in: stream.isComplete ? times.idle : times.body, context)
    turn.flush(context)
  }

  func write(_ payload: HTTP2Frame.FramePayload, _ id: HTTP2StreamID, _ context: ChannelHandlerContext) {
    context.write(wrapOutboundOut(HTTP2Frame(streamID: id, payload: payload)), promise: nil)
  }

  func reset(_ id: HTTP2StreamID, _ code: HTTP2ErrorCode, _ context: ChannelHandlerContext) {
    write(.rstStream(code), id, context)
    turn.flush(context)
  }

  /// Refuses a stream beyond the limit, which the peer may retry. The connection of a peer that opens many such streams is closed.
  func refuse(_ id: HTTP2StreamID, _ context: ChannelHandlerContext) {
    registry.add("attribution_http_rejected_total", 1, ["streams"])
    guard refusedStreams.add(within: Self.floodWindow) <= limits.streamResets else {
      close(.enhanceYourCalm, context)
      return
    }
    reset(id, .refusedStream, context)
  }

  /// Called when a stream has ended in both directions or was reset.
  func streamClosed(_ event: StreamClosedEvent, _ context: ChannelHandlerContext) {
    guard let stream = streams.removeValue(forKey: event.streamID) else { return }
    abandon(stream)
    if event.reason != nil, !stream.isAnswered, unansweredResets.add(within: Self.floodWindow) > limits.streamResets {
      registry.add("attribution_http_rejected_total", 1, ["resets"])
      close(.enhanceYourCalm, context)
      return
    }
    guard streams.isEmpty else { return }
    idleDeadline = .now() + times.idle
    scheduleTimer(for: idleDeadline, context)
    closeIfDone(context)
  }

  /// Cancels the stream's work, unless it must go on without its caller.
  func abandon(_ stream: HTTP2Stream) {
    if stream.mayBeCancelled { stream.work?.cancel() }
    stream.work = nil
  }

  /// Sets the flow-control window back to its size when half of it is used up, for the connection and for streams whose request is
  /// incomplete.
  func updateWindow(_ event: NIOHTTP2WindowUpdatedEvent, _ context: ChannelHandlerContext) {
    guard phase != .closed, let size = event.inboundWindowSize, size <= Self.windowSize / 2 else { return }
    guard event.streamID == .rootStream || streams[event.streamID]?.isComplete == false else { return }
    write(.windowUpdate(windowSizeIncrement: Self.windowSize - size), event.streamID, context)
    turn.flush(context)
  }
}
