import NIOCore
import NIOSSL

/// A request and the promise of its answer.
struct OutgoingExchange: Sendable {
  let request: ByteBuffer
  let url: String
  /// The answer, or the failure of the attempt. It may be completed more than once; only the first result counts.
  let response: EventLoopPromise<OutgoingResponse>
}

/// Writes the request when the connection is open, and reads only the head of the answer.
final class OutgoingExchangeHandler: ChannelInboundHandler {
  typealias InboundIn = ByteBuffer
  typealias OutboundOut = ByteBuffer

  private let exchange: OutgoingExchange
  private var head: [UInt8] = []
  private var isDone = false

  init(_ exchange: OutgoingExchange) { self.exchange = exchange }

  func channelActive(context: ChannelHandlerContext) {
    // With TLS, the TLS handler buffers the request until the handshake is complete.
    context.writeAndFlush(wrapOutboundOut(exchange.request), promise: nil)
    context.fireChannelActive()
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    guard !isDone else { return }
    head.append(contentsOf: unwrapInboundIn(data).readableBytesView)
    guard let end = endOfHead() else {
      if head.count > 65_536 { finish(OutgoingResponse(result: .invalidResponse)) }
      return
    }
    finish(result(of: String(decoding: head[..<end], as: UTF8.self)))
  }

  func errorCaught(context: ChannelHandlerContext, error: any Error) {
    if case NIOSSLError.uncleanShutdown = error, !head.isEmpty {
      finish(OutgoingResponse(result: .prematureClose))
    } else {
      let isTLS = error is NIOSSLError || error is BoringSSLError || error is NIOSSLExtraError
      finish(OutgoingResponse(result: isTLS ? .tlsIssue : .socketIssue))
    }
    context.close(promise: nil)
  }

  func channelInactive(context: ChannelHandlerContext) {
    finish(OutgoingResponse(result: head.isEmpty ? .noResponse : .prematureClose))
    context.fireChannelInactive()
  }

  private func finish(_ response: OutgoingResponse) {
    guard !isDone else { return }
    isDone = true
    exchange.response.succeed(response)
  }

  /// The index of the last byte of the head, which is the last one of CR LF CR LF.
  private func endOfHead() -> Int? {
    guard head.count >= 4 else { return nil }
    for index in 3..<head.count where head[index] == 10 && head[index - 1] == 13 && head[index - 2] == 10 {
      return index
    }
    return nil
  }

  private func result(of head: String) -> OutgoingResponse {
    let lines = head.split(separator: "\r\n")
    let statusLine = (lines.first ?? "").split(separator: " ", maxSplits: 2)
    guard statusLine.count >= 2, statusLine[0].hasPrefix("HTTP/1."), let status = Int(statusLine[1]), (100...599).contains(status)
    else {
      return OutgoingResponse(result: .invalidResponse)
    }
    if (300..<400).contains(status), lines.contains(where: { isRedirectToItself($0) }) {
      return OutgoingResponse(status: status, result: .circularRedirect)
    }
    return OutgoingResponse(status: status, result: (200...206).contains(status) ? .success : .unsuccessfulStatus)
  }

  private func isRedirectToItself(_ line: Substring) -> Bool {
    let parts = line.split(separator: ":", maxSplits: 1)
    return parts.count == 2 && parts[0].lowercased() == "location" && parts[1].drop { $0 == " " } == exchange.url
  }
}
