import Cryptography

/// A Lua script, called by its digest; sent whole where Redis does not know it yet.
public struct RedisScript: Sendable {
  public let name: String
  private let source: String
  let digest: String

  /// `name` stands for it in metrics: no two scripts share one.
  public init(name: String, source: String) {
    self.name = name
    self.source = source
    // As Redis names scripts.
    digest = Hex.encode(SHA1Digest.hash(Array(source.utf8)))
  }

  /// Runs the script.
  public func run(on client: RedisClient, keys: [String], arguments: [RedisArgument], timeout: Duration? = nil)
    async throws(RedisError)
    -> RedisReply
  {
    let words: [RedisArgument] = [.integer(Int64(keys.count))] + keys.map { .string($0) } + arguments
    let reply = try await client.sendAllowingErrors(["EVALSHA", .string(digest)] + words, timeout: timeout, name: name)
    if case .error(let text) = reply, text.hasPrefix("NOSCRIPT") {
      return try await client.send(["EVAL", .string(source)] + words, timeout: timeout, name: name)
    }
    if case .error(let text) = reply { throw .refused(text) }
    return reply
  }
}
