import NIOCore
import NIOPosix
import NIOSSL

/// Posts JSON as a device or the App Store does: one request on a connection of its own, without following redirects.
///
/// It uses sockets instead of an HTTP client library, because the caller must know exactly how an attempt failed (``AttemptResult``).
public struct OutgoingHTTP: Sendable {
  private let tls: NIOSSLContext
  /// The time limit of an attempt, in real time.
  let timeout: TimeAmount

  /// - Parameter trustedPEM: certificate authorities that are trusted in addition to those of the system.
  public init(trustedPEM: [String], timeout: TimeAmount = .seconds(10)) throws {
    var configuration = TLSConfiguration.makeClientConfiguration()
    configuration.minimumTLSVersion = .tlsv12
    configuration.additionalTrustRoots = [
      .certificates(try trustedPEM.flatMap { try NIOSSLCertificate.fromPEMBytes(Array($0.utf8)) })
    ]
    tls = try NIOSSLContext(configuration: configuration)
    self.timeout = timeout
  }

  /// Makes one attempt to post the body.
  public func post(_ body: [UInt8], to url: OutgoingURL, userAgent: String) async -> OutgoingResponse {
    let eventLoop = MultiThreadedEventLoopGroup.singleton.any()
    let exchange = OutgoingExchange(
      request: request(body, to: url, userAgent: userAgent), url: url.description, response: eventLoop.makePromise())
    let tls = self.tls
    let bootstrap = ClientBootstrap(group: eventLoop).connectTimeout(.seconds(5)).channelInitializer { channel in
      channel.eventLoop.makeCompletedFuture {
        if url.secure {
          let isAddress = (try? SocketAddress(ipAddress: url.host, port: 0)) != nil
          try channel.pipeline.syncOperations.addHandler(
            NIOSSLClientHandler(context: tls, serverHostname: isAddress ? nil : url.host))
        }
        try channel.pipeline.syncOperations.addHandler(OutgoingExchangeHandler(exchange))
      }
    }
    let channel: any Channel
    do {
      channel = try await bootstrap.connect(host: url.host, port: url.port).get()
    } catch ChannelError.connectTimeout {
      exchange.response.fail(CancellationError())
      return OutgoingResponse(result: .timedOut)
    } catch {
      exchange.response.fail(CancellationError())
      return OutgoingResponse(result: .socketIssue)
    }
    let timeoutTask = eventLoop.scheduleTask(in: timeout) {
      exchange.response.succeed(OutgoingResponse(result: .timedOut))
    }
    let response = try? await exchange.response.futureResult.get()
    timeoutTask.cancel()
    channel.close(promise: nil)
    return response ?? OutgoingResponse(result: .other)
  }

  private func request(_ body: [UInt8], to url: OutgoingURL, userAgent: String) -> ByteBuffer {
    var buffer = ByteBuffer(
      string: "POST \(url.target) HTTP/1.1\r\nHost: \(url.authority)\r\nUser-Agent: \(userAgent)\r\n"
        + "Content-Type: application/json\r\nAccept: */*\r\nContent-Length: \(body.count)\r\nConnection: close\r\n\r\n")
    buffer.writeBytes(body)
    return buffer
  }
}
