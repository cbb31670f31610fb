import Hummingbird
import NIOCore
import NIOPosix
import NIOSSL

/// A request's connection, so that a scripted fault can break it.
struct SimulatorContext: RequestContext {
  var coreContext: CoreRequestContextStorage
  let channel: any Channel

  init(source: Source) {
    coreContext = .init(source: source)
    channel = source.channel
  }

  /// Ends the connection by a TCP reset; under HTTP/2 this ends the connection that all streams share.
  func breakConnection() async {
    var connection = channel
    // A listening socket is the parent of a connection, a connection that of an HTTP/2 stream.
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
