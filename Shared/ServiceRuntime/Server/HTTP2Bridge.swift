import HTTPTypes
import HummingbirdCore
import NIOCore
import NIOHTTP1
import NIOHTTPTypes

/// From Hummingbird's HTTP/2 streams to our responder and back.
struct HTTP2Bridge: Sendable {
  let responder: any HTTPResponder
  let limits: Limits
  let registry: MetricsRegistry

  func respond(_ request: Request, _ writer: consuming ResponseWriter, _ channel: any Channel) async throws {
    let answer = await answer(request, channel)
    var fields = HTTPFields()
    for (name, value) in answer.allHeaders {
      if let name = HTTPField.Name(name) { fields.append(HTTPField(name: name, value: value)) }
    }
    fields[.contentLength] = String(answer.body.count)
    let head = HTTPResponse(status: .init(code: answer.status), headerFields: fields)
    if request.method == .head || answer.body.isEmpty {
      try await writer.writeResponse(head)
    } else {
      try await writer.write(response: head, body: ResponseBody(byteBuffer: ByteBuffer(bytes: answer.body)))
    }
  }

  private func answer(_ request: Request, _ channel: any Channel) async -> HTTPAnswer {
    var headers = HTTPHeaders()
    headers.reserveCapacity(request.headers.count)
    for field in request.headers { headers.add(name: field.name.rawName, value: field.value) }
    let target = request.head.path ?? "/"
    let incoming = IncomingRequest(
      method: request.method.rawValue, target: target, headers: headers,
      peer: channel.remoteAddress?.ipAddress ?? channel.parent?.remoteAddress?.ipAddress, isHTTP2: true)
    if let refusal = incoming.refusal(limits, target: target) {
      registry.add("attribution_http_rejected_total", 1, [refusal.cause])
      return HTTPAnswer(status: refusal.status)
    }
    switch responder.begin(incoming) {
    case .answer(let answer): return answer
    case .body(let limit, let exchange):
      if let length = incoming.contentLength, length > limit { return exchange.refuse(.tooLarge) }
      do throws(BodyError) {
        return await exchange.respond(to: try await body(of: request, limit: limit)).answer()
      } catch { return exchange.refuse(error) }
    }
  }

  private func body(of request: Request, limit: Int) async throws(BodyError) -> [UInt8] {
    let time = limits.bodyTime
    let body = request.body
    let result = await withTaskGroup(of: Result<[UInt8], BodyError>.self) { group in
      group.addTask { await Self.read(body, limit: limit) }
      // A body of which nothing more comes must not be waited for either.
      group.addTask {
        try? await Task.sleep(for: time)
        return .failure(.timedOut)
      }
      let first = await group.next() ?? .failure(.timedOut)
      group.cancelAll()
      return first
    }
    return try result.get()
  }

  private static func read(_ body: RequestBody, limit: Int) async -> Result<[UInt8], BodyError> {
    var bytes: [UInt8] = []
    do {
      for try await buffer in body {
        guard bytes.count + buffer.readableBytes <= limit else { return .failure(.tooLarge) }
        bytes += buffer.readableBytesView
      }
    } catch { return .failure(.timedOut) }
    return .success(bytes)
  }
}
