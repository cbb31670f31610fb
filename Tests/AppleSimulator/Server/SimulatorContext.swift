import Hummingbird
import NIOCore
import NIOPosix
import NIOSSL

/// A request's context with its connection, so that a scripted fault can break the connection.
struct SimulatorContext: RequestContext {
  var coreContext: CoreRequestContextStorage
  let channel: any Channel

  init(source: Source) {
    coreContext = .init(source: source)
    channel = source.channel
  }

  /// Ends the connection by a TCP reset. With HTTP/2 this also ends all other streams of the connection.
  func breakConnection() async {
    var connection = channel
    // The parent of an HTTP/2 stream is its connection. The parent of a connection is the listening socket, which has no remote address.
    if let parent = channel.parent, parent.remoteAddress != nil { connection = parent }
    let channel = connection
    if let socket = channel as? any SocketOptionProvider {
      try? await socket.setSoLinger(linger(l_onoff: 1, l_linger: 0)).get()
    }
    try? await channel.eventLoop.submit {
      // The connection is closed below the TLS handler, which would send close_notify.
      if let tls = try? channel.pipeline.syncOperations.context(handlerType: NIOSSLServerHandler.self) {
        tls.close(mode: .all, promise: nil)
      } else {
        channel.close(mode: .all, promise: nil)
      }
    }.get()
  }
}
