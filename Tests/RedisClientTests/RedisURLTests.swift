import Testing

@testable import RedisClient

@Suite("Redis URLs")
struct RedisURLTests {
  @Test("hosts, ports, credentials, databases and sockets are read")
  func read() throws {
    let plain = try RedisURL("redis://localhost")
    #expect(plain.address == .tcp(host: "localhost", port: 6379) && plain.password == nil && plain.database == 0)
    let full = try RedisURL("redis://user:p:w@10.0.0.1:6380/3")
    #expect(full.address == .tcp(host: "10.0.0.1", port: 6380) && full.user == "user" && full.password == "p:w" && full.database == 3)
    let password = try RedisURL("redis://:secret@[::1]:7000")
    #expect(password.address == .tcp(host: "::1", port: 7000) && password.user == nil && password.password == "secret")
    let socket = try RedisURL("unix:///run/redis.sock?db=2")
    #expect(socket.address == .unix(path: "/run/redis.sock") && socket.database == 2)
  }

  @Test(
    "anything else is refused",
    arguments: ["", "localhost", "http://x", "redis://", "redis://x:0", "redis://x:port", "redis://x/y", "unix://relative"])
  func refused(text: String) { #expect(throws: RedisError.self) { try RedisURL(text) } }
}
