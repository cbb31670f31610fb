import Testing

@testable import RedisClient

@Suite struct RedisURLTests {
  @Test func `Every form of address is parsed`() throws {
    let plain = try RedisURL("redis://cache.example")
    #expect(plain.address == .tcp(host: "cache.example", port: 6379))
    #expect(plain.user == nil && plain.password == nil && plain.database == 0)
    let full = try RedisURL("redis://me:se:c@ret@127.0.0.1:7000/3")
    #expect(full.address == .tcp(host: "127.0.0.1", port: 7000))
    #expect(full.user == "me" && full.password == "se:c@ret" && full.database == 3)
    let password = try RedisURL("redis://:secret@h")
    #expect(password.user == nil && password.password == "secret")
    let both = try RedisURL("redis://:secret@[::1]:7000")
    #expect(both.address == .tcp(host: "::1", port: 7000) && both.user == nil && both.password == "secret")
    #expect(try RedisURL("redis://[::1]:7000").address == .tcp(host: "::1", port: 7000))
    #expect(try RedisURL("redis://[::1]").address == .tcp(host: "::1", port: 6379))
    #expect(try RedisURL("unix:///run/redis.sock").address == .unix(path: "/run/redis.sock"))
    #expect(try RedisURL("unix:///run/redis.sock?db=2").database == 2)
  }

  @Test func `The URL of a socket may have a password too`() throws {
    let password = try RedisURL("unix://:se@cr:et?@/run/redis.sock?db=2")
    #expect(password.address == .unix(path: "/run/redis.sock") && password.database == 2)
    #expect(password.user == nil && password.password == "se@cr:et?")
    let user = try RedisURL("unix://me:secret@/run/redis.sock")
    #expect(user.address == .unix(path: "/run/redis.sock") && user.user == "me" && user.password == "secret")
    let word = try RedisURL("unix://secret@/run/redis.sock")
    #expect(word.user == nil && word.password == "secret")
    let plain = try RedisURL("unix:///run/a:b@/redis.sock")
    #expect(plain.address == .unix(path: "/run/a:b@/redis.sock") && plain.user == nil && plain.password == nil)
  }

  @Test func `The path of a socket is limited by the system's maximum`() throws {
    let longest = "/" + String(repeating: "s", count: 106)
    #expect(try RedisURL("unix://\(longest)").address == .unix(path: longest))
    #expect(throws: RedisError.badURL("a socket's path must have at most 107 bytes")) { try RedisURL("unix://\(longest)s") }
  }

  @Test(arguments: [
    "", "localhost", "http://h", "redis://", "redis://:secret@", "redis://h:0", "redis://h:65536", "redis://h:x", "redis://h/x",
    "redis://h/-1", "unix://relative", "unix://run/redis.sock", "unix://", "unix://:secret@run/redis.sock", "unix://:secret@",
    "unix:///s?db=x", "unix:///s?other=1",
  ])
  func `An invalid address is refused`(_ text: String) {
    #expect(throws: RedisError.self) { _ = try RedisURL(text) }
  }

  @Test func `A cluster's URL names some of its nodes`() throws {
    let url = try RedisURL("redis-cluster://me:secret@a:7000,[::1]:7001,c")
    #expect(url.deployment == .cluster && url.user == "me" && url.password == "secret" && !url.usesTLS)
    #expect(url.nodes == [("a", 7000), ("::1", 7001), ("c", 6379)].map { NodeAddress(host: $0.0, port: $0.1) })
    #expect(try RedisURL("rediss-cluster://a").usesTLS)
    #expect(url.ofNode(NodeAddress(host: "d", port: 1)).address == .tcp(host: "d", port: 1))
  }

  @Test func `A Sentinel address has the name of the primary`() throws {
    let url = try RedisURL("redis-sentinel://me:secret@a,b:7001/main/3")
    #expect(url.deployment == .sentinel("main") && url.database == 3)
    #expect(url.nodes == [("a", 26_379), ("b", 7001)].map { NodeAddress(host: $0.0, port: $0.1) })
    let login = url.replacingLogin(user: "watcher")
    #expect(login.user == "watcher" && login.password == nil)
    #expect(try RedisURL("rediss-sentinel://a/main").usesTLS)
  }

  @Test(arguments: [
    "redis://a,b", "redis-cluster://a,", "redis-cluster://a/1", "redis-cluster://", "redis-sentinel://a", "redis-sentinel://a/",
    "redis-sentinel://a/main/x", "redis-sentinel://a/main/0/0", "redis-other://a", "rediss-cluster://a:0,b",
  ])
  func `An invalid address of a cluster or of Sentinels is refused`(_ text: String) {
    #expect(throws: RedisError.self) { _ = try RedisURL(text) }
  }

  @Test func `TLS has its own scheme`() throws {
    let url = try RedisURL("rediss://me:secret@redis.example:6380/1")
    #expect(url.usesTLS && url.address == .tcp(host: "redis.example", port: 6380) && url.user == "me" && url.database == 1)
    #expect(url.serverName == "redis.example")
    #expect(try !RedisURL("redis://h").usesTLS && !RedisURL("unix:///s").usesTLS)
    // A host name is compared with a certificate's names, and an address with its addresses.
    #expect(try RedisURL("rediss://127.0.0.1").serverName == nil && RedisURL("rediss://[::1]:7000").serverName == nil)
  }

  @Test func `With a password file, the URL contains only the user`() throws {
    for text in ["redis://me@h", "redis://me:@h", "unix://me@/run/redis.sock"] {
      let url = try RedisURL(text, passwordIsInFile: true)
      #expect(url.user == "me" && url.password == nil, "\(text)")
    }
    #expect(try RedisURL("redis://h", passwordIsInFile: true).user == nil)
    #expect(throws: RedisError.badURL("it contains a password, and there is a password file too")) {
      try RedisURL("redis://me:secret@h", passwordIsInFile: true)
    }
  }
}
