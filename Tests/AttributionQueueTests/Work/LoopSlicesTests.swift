import EventLoops
import NIOCore
import NIOPosix
import Synchronization
import Testing

@Suite("Time slices of an event loop")
struct LoopSlicesTests {
  /// Runs tasks on an event loop of their own. All are ready at the same moment.
  private func run(_ tasks: [@Sendable (LoopSlices) async -> Void], slice: Duration) async throws {
    let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
    let executor = EventLoopExecutor(loop: group.next())
    let slices = try await LoopSlices.open(executor.loop, slice: slice)
    await withTaskGroup(of: Void.self) { work in
      work.addTask(executorPreference: executor) {
        await withTaskGroup(of: Void.self) { work in
          for task in tasks { work.addTask { await task(slices) } }
        }
      }
    }
    await slices.close()
    try await group.shutdownGracefully()
  }

  /// Reports that data has arrived.
  private final class Arrival: ChannelInboundHandler, Sendable {
    typealias InboundIn = ByteBuffer
    let came: @Sendable () -> Void
    init(_ came: @escaping @Sendable () -> Void) { self.came = came }
    func channelRead(context: ChannelHandlerContext, data: NIOAny) { came() }
  }

  @Test("a connection is served while tasks compute")
  func connections() async throws {
    let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
    let executor = EventLoopExecutor(loop: group.next())
    let slices = try await LoopSlices.open(executor.loop, slice: .milliseconds(1))
    let hasCome = Mutex(false)
    let arrival = Arrival { hasCome.withLock { $0 = true } }
    let server = try await ServerBootstrap(group: group).childChannelInitializer { channel in
      channel.eventLoop.makeCompletedFuture { try channel.pipeline.syncOperations.addHandler(arrival) }
    }.bind(host: "127.0.0.1", port: 0).get()
    let client = try await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton).connect(to: server.localAddress!).get()
    let compute: @Sendable () async -> Int = {
      // Sent while the loop has tasks to run that never wait.
      client.writeAndFlush(ByteBuffer(string: "now"), promise: nil)
      var steps = 0
      while steps < 200_000, !hasCome.withLock({ $0 }) {
        steps += 1
        slices.use(.microseconds(1))
        await slices.pauseIfUsedUp()
        await Task.yield()
      }
      return steps
    }
    let steps = await withTaskGroup(of: Int.self) { work in
      for _ in 0..<4 { work.addTask(executorPreference: executor, operation: compute) }
      return await work.reduce(0, +)
    }
    #expect(steps < 800_000, "the tasks ended without a turn for the connection")
    try await client.close()
    try await server.close()
    await slices.close()
    try await group.shutdownGracefully()
  }

  @Test("paused tasks continue in order, one slice after the other")
  func order() async throws {
    let log = Mutex<[String]>([])
    let note: @Sendable (String) -> Void = { word in log.withLock { $0.append(word) } }
    let tasks = ["a", "b", "c"].map { name in
      { @Sendable (slices: LoopSlices) async in
        for step in 1...2 {
          await slices.pauseIfUsedUp()
          note("\(name)\(step)")
          slices.use(.milliseconds(2))
        }
      }
    }
    try await run(tasks, slice: .milliseconds(2))
    // The first task finds its slice unused, and pauses before the others do.
    #expect(log.withLock { $0 } == ["a1", "a2", "b1", "c1", "b2", "c2"])
  }

  @Test("no task waits before its slice is used up")
  func unused() async throws {
    let steps = Mutex(0)
    try await run(
      [
        { slices in
          slices.use(.milliseconds(4))
          #expect(await !slices.pauseIfUsedUp())
          slices.use(.milliseconds(1))
          #expect(await slices.pauseIfUsedUp(), "it paused, and says so")
          #expect(await !slices.pauseIfUsedUp(), "a new slice has begun")
          steps.withLock { $0 += 1 }
        }
      ], slice: .milliseconds(5))
    #expect(steps.withLock { $0 } == 1)
  }
}
