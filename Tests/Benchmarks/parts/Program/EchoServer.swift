import Hummingbird
import NIOCore
import NIOPosix

/// Hummingbird's server with one event loop. Its answer is as long as that of the services' own echo (`BenchmarkEcho`).
enum EchoServer {
  static func run(port: Int) async throws {
    let body = ByteBuffer(repeating: 0x20, count: 374)
    let router = Router()
    router.post("benchmark.echo/Echo") { request, _ in
      _ = try await request.body.collect(upTo: 1 << 20)
      return Response(status: .ok, headers: [.contentType: "application/json"], body: .init(byteBuffer: body))
    }
    let application = Application(
      router: router, configuration: .init(address: .hostname("127.0.0.1", port: port)),
      eventLoopGroupProvider: .shared(MultiThreadedEventLoopGroup(numberOfThreads: 1)))
    try await application.runService()
  }
}
