import Cryptography

/// A Lua script. It is called by its digest, and sent as a whole if Redis does not know it yet.
public struct RedisScript: Sendable {
  public let name: String
  private let source: String
  let digest: String

  /// `name`: the script's name in metrics, unique among all scripts.
  public init(name: String, source: String) {
    self.name = name
    self.source = source
    // Redis identifies scripts by this digest.
    digest = Hex.encode(SHA1Digest.hash(Array(source.utf8)))
  }

  /// A script of a module's folder `Scripts`, whose files are embedded in the module's `PackageResources`.
  public init(name: String, source: [UInt8]) {
    self.init(name: name, source: String(decoding: source, as: UTF8.self))
  }

  /// Runs the script.
  public func run(on client: RedisClient, keys: [String], arguments: [RedisArgument], timeout: Duration? = nil)
    async throws(RedisError)
    -> RedisReply
  {
    var names = EncodedArguments(reserving: keys.reduce(0) { $0 + $1.utf8.count + 8 })
    for key in keys { names.append(key) }
    return try await run(on: client, keys: names, arguments: EncodedArguments(arguments), timeout: timeout)
  }

  /// Runs the script with encoded arguments.
  public func run(on client: RedisClient, keys: EncodedArguments, arguments: EncodedArguments, timeout: Duration? = nil)
    async throws(RedisError)
    -> RedisReply
  {
    let reply = try await client.sendAllowingErrors(call("EVALSHA", digest, keys, arguments), timeout: timeout, name: name)
    guard let text = reply.error, text.hasPrefix("NOSCRIPT") else { return try RedisClient.accepted(reply) }
    return try await client.send(call("EVAL", source, keys, arguments), timeout: timeout, name: name)
  }

  private func call(_ command: String, _ script: String, _ keys: EncodedArguments, _ arguments: EncodedArguments) -> EncodedArguments {
    var words = EncodedArguments(
      reserving: script.utf8.count + 64 + min(keys.size, EncodedArguments.long) + min(arguments.size, EncodedArguments.long))
    words.append(command)
    words.append(script)
    words.append(Int64(keys.count))
    words.append(contentsOf: keys)
    words.append(contentsOf: arguments)
    return words
  }
}
