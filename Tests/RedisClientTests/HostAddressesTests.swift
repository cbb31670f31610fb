import NIOConcurrencyHelpers
import NIOCore
import NIOPosix
import Testing

@testable import RedisClient

@Suite struct HostAddressesTests {
  private let loop = MultiThreadedEventLoopGroup.singleton.next()

  /// A name server whose answers the test controls.
  private final class NameServer: Sendable {
    typealias Answer = Result<[SocketAddress], any Error>
    private let state = NIOLockedValueBox((answer: Answer.success([]), asked: 0, isSilent: false))

    func set(_ answer: Answer) { state.withLockedValue { $0 = (answer, $0.asked, false) } }
    func silence() { state.withLockedValue { $0.isSilent = true } }
    var asked: Int { state.withLockedValue { $0.asked } }

    @Sendable func lookUp(_ name: String, _ port: Int) throws -> [SocketAddress] {
      state.withLockedValue { $0.asked += 1 }
      while true {
        let (answer, _, isSilent) = state.withLockedValue { $0 }
        if !isSilent { return try answer.get() }
        usleep(1000)
      }
    }
  }

  private func address(_ text: String) throws -> SocketAddress { try SocketAddress(ipAddress: text, port: 6379) }

  @Test func `A new answer is used immediately, and each connection resolves the name again`() async throws {
    let (server, first, second) = (NameServer(), try address("10.0.0.1"), try address("10.0.0.2"))
    let addresses = HostAddresses(timeout: .hours(1), lookUp: server.lookUp)
    server.set(.success([first]))
    #expect(try await addresses.find("redis", port: 6379, on: loop).get() == [first])
    server.set(.success([second, first]))
    #expect(try await addresses.find("redis", port: 6379, on: loop).get() == [second, first])
    #expect(server.asked == 2)
  }

  @Test func `While the name server does not answer, the former addresses are used; a late answer is used`() async throws {
    let (server, first, second) = (NameServer(), try address("10.0.0.1"), try address("10.0.0.2"))
    let addresses = HostAddresses(timeout: .milliseconds(10), lookUp: server.lookUp)
    server.set(.success([first]))
    #expect(try await addresses.find("redis", port: 6379, on: loop).get() == [first])
    server.silence()
    #expect(try await addresses.find("redis", port: 6379, on: loop).get() == [first])
    #expect(try await addresses.find("redis", port: 6379, on: loop).get() == [first])
    // Both callers have waited for the same query.
    #expect(server.asked == 2)
    server.set(.success([second]))
    let until = ContinuousClock.now + .seconds(20)
    while try await addresses.find("redis", port: 6379, on: loop).get() != [second], .now < until {
      try await Task.sleep(for: .milliseconds(5))
    }
    #expect(try await addresses.find("redis", port: 6379, on: loop).get() == [second])
  }

  @Test func `After a failure the former addresses are used; a host that was never resolved has none`() async throws {
    let (server, first) = (NameServer(), try address("10.0.0.1"))
    let addresses = HostAddresses(timeout: .hours(1), lookUp: server.lookUp)
    let failure = RedisError.unavailable("no address")
    server.set(.failure(failure))
    await #expect(throws: RedisError.self) { try await addresses.find("redis", port: 6379, on: loop).get() }
    server.set(.success([first]))
    #expect(try await addresses.find("redis", port: 6379, on: loop).get() == [first])
    server.set(.failure(failure))
    #expect(try await addresses.find("redis", port: 6379, on: loop).get() == [first])
    // Another port is another host.
    await #expect(throws: RedisError.self) { try await addresses.find("redis", port: 6380, on: loop).get() }
  }

  @Test func `The system resolves this machine by name and by address, and no invalid name`() throws {
    #expect(try HostAddresses.system("127.0.0.1", 6379).map(\.ipAddress) == ["127.0.0.1"])
    #expect(try HostAddresses.system("127.0.0.1", 6379).map(\.port) == [6379])
    #expect(try HostAddresses.system("::1", 6379).map(\.protocol) == [.inet6])
    #expect(try HostAddresses.system("localhost", 1).contains { ["127.0.0.1", "::1"].contains($0.ipAddress) })
    #expect(throws: RedisError.self) { try HostAddresses.system("no such host", 6379) }
  }

  @Test func `NIO gets the addresses of the requested family`() async throws {
    let found = [try address("10.0.0.1"), try address("::2"), try address("10.0.0.3")]
    let resolver = HostResolver(found: loop.makeSucceededFuture(found))
    #expect(try await resolver.initiateAQuery(host: "redis", port: 6379).get() == [found[0], found[2]])
    #expect(try await resolver.initiateAAAAQuery(host: "redis", port: 6379).get() == [found[1]])
  }
}
