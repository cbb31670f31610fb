import AttributionProtocol
import HTTPTypes
import Hummingbird
import HummingbirdCore
import NIOCore
import NIOHTTPTypes

/// From Hummingbird's request to ours and back, with the limits on heads in between.
struct ResponderBridge: Sendable {
  let responder: any HTTPResponder
  let limits: Limits
  let registry: MetricsRegistry
  let isDraining: @Sendable () -> Bool

  func respond(_ request: Request, _ writer: consuming ResponseWriter, _ channel: any Channel, isHTTP2: Bool)
    async throws
  {
    var answer: HTTPAnswer
    var close = false
    if let (status, cause) = refusal(request) {
      registry.add("attribution_http_rejected_total", 1, [cause])
      answer = HTTPAnswer(status: status)
      close = true
    } else {
      let peer = channel.remoteAddress?.ipAddress ?? (isHTTP2 ? channel.parent?.remoteAddress?.ipAddress : nil)
      let reader = HummingbirdBodyReader(request: request, time: limits.bodyTime)
      answer = await responder.respond(
        to: IncomingRequest(head: request.head, peer: peer, isHTTP2: isHTTP2), body: reader)
      // A refused body of a stated, bearable length is read to its end, so that the sender reads our answer; one without an
      // end in sight is not, and its connection can carry no other request.
      let bearable = (request.headers[.contentLength].flatMap { Int($0) } ?? .max) <= 4 * limits.batchBodyBytes
      close = answer.status == 408 || !bearable && (answer.status == 413 || answer.status == 429)
    }
    if !isHTTP2, close || isDraining() { answer.headers[.connection] = "close" }
    answer.headers[.contentLength] = String(answer.body.count)
    let head = HTTPResponse(status: .init(code: answer.status), headerFields: answer.headers)
    if request.method == .head || answer.body.isEmpty {
      try await writer.writeResponse(head)
    } else {
      try await writer.write(response: head, body: ResponseBody(byteBuffer: ByteBuffer(bytes: answer.body)))
    }
    if !isHTTP2, close { throw ConnectionDone() }
  }

  /// Ends the connection after an answer that leaves it unusable.
  private struct ConnectionDone: Error {}

  private func refusal(_ request: Request) -> (Int, String)? {
    if (request.head.path ?? "").utf8.count > limits.requestTargetBytes { return (414, "target") }
    var bytes = 0
    for field in request.headers { bytes += field.name.rawName.utf8.count + field.value.utf8.count + 4 }
    return bytes > limits.headerBytes || request.headers.count > limits.headerCount ? (431, "headers") : nil
  }
}

/// Collects Hummingbird's body, bounded in size and time.
private struct HummingbirdBodyReader: BodyReader {
  let request: Request
  let time: Duration

  func read(limit: Int) async throws -> [UInt8] {
    // A body that came with its head needs no watching; most do.
    var bytes: [UInt8] = []
    if let length = request.headers[.contentLength].flatMap({ Int($0) }) { bytes.reserveCapacity(min(length, limit)) }
    let until = ContinuousClock.now + time
    for try await var buffer in request.body {
      guard bytes.count + buffer.readableBytes <= limit else { throw BodyError.tooLarge }
      if let chunk = buffer.readBytes(length: buffer.readableBytes) { bytes += chunk }
      if ContinuousClock.now > until { throw BodyError.timedOut }
    }
    return bytes
  }
}
