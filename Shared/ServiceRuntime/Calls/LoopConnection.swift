import HTTPClient
import NIOCore

/// One HTTP/1.1 connection with at most one request at a time (RFC 9112). Used only on its event loop.
final class LoopConnection: ChannelInboundHandler {
  typealias InboundIn = ByteBuffer

  /// The maximum size of a response's head, bytes.
  private static let maxHeadBytes = 16 << 10

  /// True if the pool uses this connection, so that the pool must learn of its end. NIO may create further channels while it tries the
  /// addresses of a host name.
  var isInPool = false
  private let channel: any Channel
  private let pool: LoopPool
  private var exchange: LoopExchange?
  /// True if at least one request was answered on this connection.
  private var hasAnswered = false
  private var received = ByteBuffer()
  private var head: ResponseHead?

  init(channel: any Channel, pool: LoopPool) {
    self.channel = channel
    self.pool = pool
  }

  func send(_ exchange: LoopExchange) {
    self.exchange = exchange
    exchange.connection = self
    channel.writeAndFlush(exchange.bytes, promise: nil)
  }

  func close() { channel.close(promise: nil) }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    var bytes = unwrapInboundIn(data)
    // Bytes that arrive while no request waits for a response are a protocol error.
    guard let exchange else { return close() }
    if received.readableBytes == 0 { received = bytes } else { received.writeBuffer(&bytes) }
    if head == nil {
      guard let length = ResponseHead.length(in: received.readableBytesView) else {
        if received.readableBytes > Self.maxHeadBytes { fail(.other(code: LoopExchange.unsupported, "a response head that is too long")) }
        return
      }
      head = received.readSlice(length: length).flatMap { ResponseHead($0.readableBytesView) }
    }
    guard let head else { return fail(.other(code: LoopExchange.unsupported, "a response that is not supported")) }
    guard head.bodyLength <= exchange.maxResponseBytes else { return fail(.tooLarge(limit: exchange.maxResponseBytes)) }
    guard let body = received.readBytes(length: head.bodyLength) else { return }
    let isUsable = head.keepsConnection && received.readableBytes == 0
    self.head = nil
    self.exchange = nil
    received = ByteBuffer()
    hasAnswered = true
    exchange.end(.success(HTTPClientResponse(status: head.status, headers: [], body: body, httpVersion: "1.1")))
    if isUsable { pool.release(self) } else { close() }
  }

  func channelInactive(context: ChannelHandlerContext) {
    if let exchange {
      self.exchange = nil
      // A server may close an idle connection just when a request is sent. A request is resent only if its connection was idle before and
      // no byte of a response arrived: then it most likely was not processed.
      let mayBeUnprocessed = hasAnswered && head == nil && received.readableBytes == 0
      if mayBeUnprocessed, exchange.isRepeatable, !exchange.wasResent, !exchange.isOver {
        pool.resend(exchange)
      } else {
        exchange.end(.failure(.connectionReset("it was closed")))
      }
    }
    if isInPool { pool.remove(self) }
  }

  func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }

  private func fail(_ error: HTTPClientError) {
    exchange?.end(.failure(error))
    close()
  }
}

/// The status line and headers of a response with a `Content-Length`.
struct ResponseHead {
  let status: Int
  let bodyLength: Int
  let keepsConnection: Bool

  /// The length of a head including the empty line after it, bytes; nil while the head is incomplete.
  static func length(in bytes: ByteBufferView) -> Int? {
    var start = bytes.startIndex
    while let newline = bytes[start...].firstIndex(of: 10) {
      let next = newline + 1
      let rest = bytes[next...].prefix(2)
      if rest.first == 10 { return next + 1 - bytes.startIndex }
      if rest.elementsEqual([13, 10]) { return next + 2 - bytes.startIndex }
      start = next
    }
    return nil
  }

  /// Nil for a response that is not supported: with a version other than HTTP/1.1, with a status below 200, without exactly one
  /// `Content-Length`, or with `Transfer-Encoding` or `Content-Encoding`.
  init?(_ bytes: ByteBufferView) {
    let lines = bytes.split(separator: 10).map { $0.last == 13 ? $0.dropLast() : $0 }
    guard let first = lines.first, first.starts(with: "HTTP/1.1 ".utf8),
      let status = Int(String(decoding: first.dropFirst(9).prefix(3), as: UTF8.self)), status >= 200
    else { return nil }
    var (length, keeps): (Int?, Bool) = (nil, true)
    for line in lines.dropFirst() where !line.isEmpty {
      guard let colon = line.firstIndex(of: UInt8(ascii: ":")) else { return nil }
      let name = line[..<colon]
      switch name.count {
      case 14 where Self.isName(name, "content-length"):
        guard length == nil, let value = Int(Self.value(line, after: colon)), value >= 0 else { return nil }
        length = value
      case 17 where Self.isName(name, "transfer-encoding"), 16 where Self.isName(name, "content-encoding"): return nil
      case 10 where Self.isName(name, "connection"): keeps = Self.value(line, after: colon).lowercased() != "close"
      default: break
      }
    }
    guard let length else { return nil }
    self.status = status
    bodyLength = length
    keepsConnection = keeps
  }

  /// Compares ignoring case; the second name must be in lower case.
  private static func isName(_ bytes: ByteBufferView, _ name: StaticString) -> Bool {
    name.withUTF8Buffer { expected in bytes.elementsEqual(expected) { $0 == $1 || $0 | 0x20 == $1 } }
  }

  private static func value(_ line: ByteBufferView, after colon: Int) -> String {
    String(decoding: line[(colon + 1)...].drop { $0 == 32 }, as: UTF8.self)
  }
}
