import Cryptography

/// A Lua script. It is called by its digest (`EVALSHA`), and sent as a whole (`EVAL`) if Redis does not know it yet.
public struct RedisScript: Sendable {
  /// The script's name in metrics.
  public let name: String
  private let source: String
  /// SHA-1 of the source in hexadecimal digits, by which Redis identifies a script.
  let digest: String

  /// - Parameter name: the script's name in metrics, unique among all scripts.
  public init(name: String, source: String) {
    self.name = name
    self.source = source
    digest = Hex.encode(SHA1Digest.hash(Array(source.utf8)))
  }

  /// A script of a module's folder `Scripts`, whose files are embedded in the module's `PackageResources`.
  public init(name: String, source: [UInt8]) {
    self.init(name: name, source: String(decoding: source, as: UTF8.self))
  }

  /// Runs the script and returns its reply.
  public func run(on client: RedisClient, keys: [String], arguments: [RedisArgument], timeout: Duration? = nil)
    async throws(RedisError)
    -> RedisReply
  {
    var names = EncodedArguments(reserving: keys.reduce(0) { $0 + $1.utf8.count + 8 })
    for key in keys { names.append(key) }
    return try await run(on: client, keys: names, arguments: EncodedArguments(arguments), timeout: timeout)
  }

  /// The same with encoded keys and arguments.
  public func run(on client: RedisClient, keys: EncodedArguments, arguments: EncodedArguments, timeout: Duration? = nil)
    async throws(RedisError)
    -> RedisReply
  {
    let reply = try await client.sendAllowingErrors(call("EVALSHA", digest, keys, arguments), timeout: timeout, name: name)
    guard let text = reply.error, text.hasPrefix("NOSCRIPT") else { return try RedisClient.accepted(reply) }
    return try await client.send(call("EVAL", source, keys, arguments), timeout: timeout, name: name)
  }

  private func call(_ command: String, _ script: String, _ keys: EncodedArguments, _ arguments: EncodedArguments) -> EncodedArguments {
    // Longer keys and arguments are not copied.
    var call = EncodedArguments(
      reserving: script.utf8.count + 64 + min(keys.size, EncodedArguments.largeSize) + min(arguments.size, EncodedArguments.largeSize))
    call.append(command)
    call.append(script)
    call.append(Int64(keys.count))
    call.append(contentsOf: keys)
    call.append(contentsOf: arguments)
    return call
  }
}
