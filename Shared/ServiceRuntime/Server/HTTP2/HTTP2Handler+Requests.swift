import NIOCore
import NIOHPACK
import NIOHTTP2

/// Requests and their responses.
extension HTTP2Handler {
  // MARK: Requests

  func take(_ headers: HTTP2Frame.FramePayload.Headers, _ id: HTTP2StreamID, _ context: ChannelHandlerContext) {
    guard phase != .closed else { return }
    if let stream = streams[id] {
      // Trailers are ignored.
      if headers.endStream { ended(stream, id, context) }
      return
    }
    lastStream = max(lastStream, id)
    guard streams.count < limits.streams, phase != .ended else {
      refuse(id, context)
      return
    }
    idleDeadline = .distantFuture
    let stream = HTTP2Stream()
    stream.isWhole = headers.endStream
    streams[id] = stream
    begin(headers.headers, stream, id, context)
  }

  func begin(_ fields: HPACKHeaders, _ stream: HTTP2Stream, _ id: HTTP2StreamID, _ context: ChannelHandlerContext) {
    let head = HTTP2RequestHead(fields)
    stream.isHead = head.method == "HEAD"
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
      if stream.isWhole {
        respond(stream, id, context)
      } else {
        wait(stream, exchange.bodyTime(times.body), context)
      }
    }
  }

  func take(_ part: HTTP2Frame.FramePayload.Data, _ id: HTTP2StreamID, _ context: ChannelHandlerContext) {
    guard let stream = streams[id], case .byteBuffer(let buffer) = part.data else { return }
    if let exchange = stream.exchange {
      if stream.body == nil { stream.body = BufferedBody(bodies, peer: exchange.peer) }
      if let error = stream.body!.add(buffer, limit: stream.bodyLimit) {
        stream.isWhole = part.endStream
        send(exchange.refuse(error), stream, id, context)
        return
      }
    } else {
      stream.skippedBytes += buffer.readableBytes
      if stream.skippedBytes > Self.skipAllowance, !part.endStream {
        reset(id, .noError, context)
        return
      }
    }
    if part.endStream { ended(stream, id, context) }
  }

  func ended(_ stream: HTTP2Stream, _ id: HTTP2StreamID, _ context: ChannelHandlerContext) {
    guard !stream.isWhole else { return }
    stream.isWhole = true
    if stream.exchange != nil { respond(stream, id, context) }
  }

  func respond(_ stream: HTTP2Stream, _ id: HTTP2StreamID, _ context: ChannelHandlerContext) {
    guard let exchange = stream.exchange else { return }
    stream.exchange = nil
    stream.deadline = nil
    // The body counts against the budget until the response is made.
    if stream.body == nil { stream.body = BufferedBody(bodies, peer: exchange.peer) }
    let bytes = stream.body!.take()
    let reservation = stream.body!.reservation
    switch exchange.respond(to: bytes, reservation) {
    case .now(let response): self.send(response, stream, id, context)
    case .later(let work), .waiting(let work): start(work, stream, reservation, id, context)
    case .waitingAtMost(let time, let late, let work):
      stream.lateResponse = late
      wait(stream, TimeAmount(time), context)
      start(work, stream, reservation, id, context)
    case .coalesced(let work, let response):
      turn.perform(work) { self.send(response(), stream, id, context) }
    }
  }

  /// Starts work in a task. The body's memory stays reserved until the work ends, also if the response is late.
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

  // MARK: Answers

  func send(_ response: HTTPResponse, _ stream: HTTP2Stream, _ id: HTTP2StreamID, _ context: ChannelHandlerContext) {
    // Work that ends after its deadline is answered already.
    guard streams[id] === stream, !stream.isAnswered, phase != .closed else { return }
    stream.exchange = nil
    stream.lateResponse = nil
    stream.body = nil
    stream.isAnswered = true
    let withoutBody = stream.isHead || response.body.isEmpty
    var fields = HPACKHeaders()
    fields.reserveCapacity(response.headers.count + 4)
    fields.add(name: ":status", value: String(response.status))
    for (name, value) in response.headers where HTTP1Response.isSafe(value) && HTTPToken.isToken(name) {
      fields.add(name: name.lowercased(), value: value)
    }
    if let requestId = response.requestId, HTTP1Response.isSafe(requestId) { fields.add(name: "x-request-id", value: requestId) }
    fields.add(name: "content-length", value: String(response.body.count))
    fields.add(name: "date", value: date.value())
    // The last data frame carries END_STREAM. With a separate empty frame, a peer that counts bytes could be done before the stream ends
    // and reset it.
    write(.headers(.init(headers: fields, endStream: withoutBody)), id, context)
    if !withoutBody {
      write(.data(.init(data: .byteBuffer(context.channel.allocator.buffer(bytes: response.body)), endStream: true)), id, context)
    }
    // Both sending within the peer's window and discarding the rest of the request have a time limit.
    wait(stream, stream.isWhole ? times.idle : times.body, context)
    turn.flush(context)
  }

  func write(_ payload: HTTP2Frame.FramePayload, _ id: HTTP2StreamID, _ context: ChannelHandlerContext) {
    context.write(wrapOutboundOut(HTTP2Frame(streamID: id, payload: payload)), promise: nil)
  }

  func reset(_ id: HTTP2StreamID, _ code: HTTP2ErrorCode, _ context: ChannelHandlerContext) {
    write(.rstStream(code), id, context)
    turn.flush(context)
  }

  /// Refuses one stream over the limit; the peer may retry it. A peer that keeps opening such streams loses the connection.
  func refuse(_ id: HTTP2StreamID, _ context: ChannelHandlerContext) {
    registry.add("attribution_http_rejected_total", 1, ["streams"])
    guard refused.add(within: Self.floodWindow) <= limits.streamResets else {
      close(.enhanceYourCalm, context)
      return
    }
    reset(id, .refusedStream, context)
  }

  func closed(_ event: StreamClosedEvent, _ context: ChannelHandlerContext) {
    guard let stream = streams.removeValue(forKey: event.streamID) else { return }
    abandon(stream)
    if event.reason != nil, !stream.isAnswered, givenUp.add(within: Self.floodWindow) > limits.streamResets {
      registry.add("attribution_http_rejected_total", 1, ["resets"])
      close(.enhanceYourCalm, context)
      return
    }
    guard streams.isEmpty else { return }
    idleDeadline = .now() + times.idle
    expect(idleDeadline, context)
    closeIfDone(context)
  }

  func abandon(_ stream: HTTP2Stream) {
    if stream.mayBeCancelled { stream.work?.cancel() }
    stream.work = nil
  }

  /// Widens the flow-control window by what was read, for the connection and for streams whose body is incomplete.
  func widen(_ event: NIOHTTP2WindowUpdatedEvent, _ context: ChannelHandlerContext) {
    guard phase != .closed, let size = event.inboundWindowSize, size <= Self.windowSize / 2 else { return }
    guard event.streamID == .rootStream || streams[event.streamID]?.isWhole == false else { return }
    write(.windowUpdate(windowSizeIncrement: Self.windowSize - size), event.streamID, context)
    turn.flush(context)
  }
}
