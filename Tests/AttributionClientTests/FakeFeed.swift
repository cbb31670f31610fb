import AttributionProtocol
import NIOCore
import NIOHTTP1
import NIOPosix
import Synchronization
import WireJSON

@testable import AttributionClient

/// Serves the methods of the feed from memory on a loopback port, and records the calls.
final class FakeFeed: Sendable {
  struct State: Sendable {
    var waiting: [String]
    var leased: Set<String> = []
    var acknowledged: [String] = []
    var givenBack: [String] = []
    /// The number of lease extensions.
    var extensions = 0
    var pulls = 0
    /// Errors that the next calls get first.
    var failures: [RPCError] = []
    /// True if extended leases are reported as lost.
    var losesLeases = false
  }

  let state: Mutex<State>
  private let channel: any Channel

  init(_ ids: [String], failures: [RPCError] = []) async throws {
    state = Mutex(State(waiting: ids, failures: failures))
    let box = Handling()
    channel = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
      .childChannelInitializer { channel in
        channel.eventLoop.makeCompletedFuture {
          try channel.pipeline.syncOperations.configureHTTPServerPipeline()
          try channel.pipeline.syncOperations.addHandler(Handler(box))
        }
      }
      .bind(host: "127.0.0.1", port: 0).get()
    box.feed.withLock { $0 = self }
  }

  func stop() async { try? await channel.close() }

  var client: EventsServiceClient {
    EventsServiceClient(
      RPCClient(baseURL: "http://127.0.0.1:\(channel.localAddress?.port ?? 0)", token: "t", http: .init()))
  }

  /// The answer to a call.
  fileprivate func response(_ method: String, _ body: [UInt8]) -> Result<[UInt8], RPCError> {
    guard let message = try? JSONValue(parsing: body) else { return .failure(.invalidArgument(field: "", "is no JSON")) }
    let ackIds = message["ackIds"]?.arrayValue?.compactMap(\.stringValue) ?? []
    return state.withLock { state in
      if !state.failures.isEmpty { return .failure(state.failures.removeFirst()) }
      switch method {
      case "PullEvents":
        state.pulls += 1
        let taken = Array(state.waiting.prefix(Int(message["maxEvents"]?.int64Value ?? 0)))
        state.waiting.removeFirst(taken.count)
        state.leased.formUnion(taken)
        return .success(
          PullEventsResponse(events: taken.map { PulledEvent(ackId: $0, event: ["id": .string($0), "type": "t"]) }).json)
      case "AcknowledgeEvents":
        state.acknowledged += ackIds
        state.leased.subtract(ackIds)
        return .success(AcknowledgeEventsResponse(acknowledged: Int32(ackIds.count)).json)
      default:
        guard message["leaseSeconds"]?.int64Value != 0 else {
          state.givenBack += ackIds
          state.leased.subtract(ackIds)
          state.waiting += ackIds
          return .success(ModifyLeaseResponse(modified: Int32(ackIds.count)).json)
        }
        state.extensions += 1
        return .success(ModifyLeaseResponse(modified: state.losesLeases ? 0 : Int32(ackIds.count)).json)
      }
    }
  }

  private final class Handling: Sendable {
    let feed = Mutex<FakeFeed?>(nil)
  }

  private final class Handler: ChannelInboundHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias OutboundOut = HTTPServerResponsePart
    private let handling: Handling
    private var method = ""
    private var body: [UInt8] = []

    init(_ handling: Handling) { self.handling = handling }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
      switch unwrapInboundIn(data) {
      case .head(let head):
        method = head.uri.split(separator: "/").last.map(String.init) ?? ""
        body = []
      case .body(let part): body += part.readableBytesView
      case .end:
        let response = handling.feed.withLock { $0 }?.response(method, body) ?? .failure(.unavailable("not yet"))
        let (status, bytes): (Int, [UInt8]) =
          switch response {
          case .success(let bytes): (200, bytes)
          case .failure(let error): (error.code.httpStatus, error.json)
          }
        let headers = HTTPHeaders([("Content-Type", "application/json"), ("Content-Length", String(bytes.count))])
        context.write(
          wrapOutboundOut(.head(HTTPResponseHead(version: .http1_1, status: .init(statusCode: status), headers: headers))), promise: nil)
        context.write(wrapOutboundOut(.body(.byteBuffer(ByteBuffer(bytes: bytes)))), promise: nil)
        context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: nil)
      }
    }
  }
}
