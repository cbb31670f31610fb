public import AttributionProtocol
import Configuration
import Foundation
public import RedisClient

/// Where a server listens.
public struct ListenAddress: Sendable, Hashable {
  public var host: String
  public var port: Int

  public init(host: String, port: Int) {
    self.host = host
    self.port = port
  }

  init(_ text: String, variable: String) throws(ConfigurationError) {
    guard let colon = text.lastIndex(of: ":"), let port = Int(text[text.index(after: colon)...]),
      (0...65535).contains(port)
    else {
      throw ConfigurationError(variable, "must be host:port")
    }
    host = String(text[..<colon]).trimmingCharacters(in: ["[", "]"])
    self.port = port
  }
}

/// The environment variables: what differs between deployments.
public struct ServiceVariables: Sendable {
  public var configurationPath: String
  public var redisURL: RedisURL?
  public var listen: ListenAddress
  public var publicListen: ListenAddress
  public var signerURL: String
  public var appStoreProductionURL: String
  public var appStoreSandboxURL: String
  public var adServicesURL: String
  public var caFile: String?
  /// Of the internal listener; nil: clear text.
  public var tls: ListenerTLS?
  /// Of ingest's public listener; nil: clear text.
  public var publicTLS: ListenerTLS?
  public var consentConnectTo: String?
  public var serviceToken: String?
  /// Threads that serve connections, on which the verifier and the broker work their queues too; nil: one for each core that may be used.
  public var eventLoops: Int?
  public var logLevel: String
  public var development: Bool
  public var open: Bool
  public var drainDelay: Duration
  public var timeScale: Double
  public var pathPrefix: String
  /// Where the signer records its signatures; `-` for standard output.
  public var auditFile: String?
  /// Whether the benchmarks' echo is served; development only.
  public var benchmarkEcho: Bool

  public init(_ service: ServiceName) throws(ConfigurationError) {
    let reader = ConfigReader(provider: EnvironmentVariablesProvider())
    func text(_ name: String) -> String? {
      reader.string(forKey: ConfigKey("attribution." + name), isSecret: true).flatMap { $0.isEmpty ? nil : $0 }
    }
    func number<Number: LosslessStringConvertible>(_ name: String, _ otherwise: Number) throws(ConfigurationError)
      -> Number
    {
      guard let value = text(name) else { return otherwise }
      guard let number = Number(value) else { throw ConfigurationError(Self.variable(name), "must be a number") }
      return number
    }
    func flag(_ name: String) -> Bool { ["1", "true", "yes"].contains(text(name)?.lowercased()) }
    guard let configurationPath = text("config") else {
      throw ConfigurationError("ATTRIBUTION_CONFIG", "is not set; it must name the configuration file")
    }
    self.configurationPath = configurationPath
    if let url = text("redis.url") {
      do throws(RedisError) { redisURL = try RedisURL(url) } catch {
        throw ConfigurationError("ATTRIBUTION_REDIS_URL", "\(error)")
      }
    }
    open = flag("open")
    let everywhere = open ? "127.0.0.1" : "0.0.0.0"
    listen = ListenAddress(host: everywhere, port: service.defaultPort)
    publicListen = ListenAddress(host: "0.0.0.0", port: ServiceName.defaultPublicPort)
    if let address = text("listen") { listen = try ListenAddress(address, variable: "ATTRIBUTION_LISTEN") }
    if let address = text("public.listen") {
      publicListen = try ListenAddress(address, variable: "ATTRIBUTION_PUBLIC_LISTEN")
    }
    if open, !["127.0.0.1", "::1", "localhost"].contains(listen.host) {
      throw ConfigurationError(
        "ATTRIBUTION_OPEN", "a service without credentials listens on loopback only; ATTRIBUTION_LISTEN says otherwise")
    }
    signerURL = text("signer.url") ?? "http://127.0.0.1:8091"
    appStoreProductionURL = text("app.store.production.url") ?? "https://api.storekit.apple.com"
    appStoreSandboxURL = text("app.store.sandbox.url") ?? "https://api.storekit-sandbox.apple.com"
    adServicesURL = text("adservices.url") ?? "https://api-adservices.apple.com/api/v1/"
    caFile = text("ca.file")
    func listenerTLS(_ prefix: String) throws(ConfigurationError) -> ListenerTLS? {
      switch (text(prefix + "certificate"), text(prefix + "key")) {
      case (nil, nil): return nil
      case (let certificate?, let key?): return ListenerTLS(certificateFile: certificate, keyFile: key)
      case (nil, _): throw ConfigurationError(Self.variable(prefix + "certificate"), "is not set, and the key beside it is")
      case (_, nil): throw ConfigurationError(Self.variable(prefix + "key"), "is not set, and the certificate beside it is")
      }
    }
    tls = try listenerTLS("tls.")
    publicTLS = try listenerTLS("public.tls.")
    if let authorities = text("tls.client.ca") {
      guard tls != nil else { throw ConfigurationError("ATTRIBUTION_TLS_CLIENT_CA", "needs ATTRIBUTION_TLS_CERTIFICATE") }
      tls?.clientCAFile = authorities
    }
    switch text("tls.client.certificate") {
    case nil, "optional": break
    case "required":
      guard tls?.clientCAFile != nil else {
        throw ConfigurationError("ATTRIBUTION_TLS_CLIENT_CERTIFICATE", "needs ATTRIBUTION_TLS_CLIENT_CA")
      }
      tls?.requiresClientCertificate = true
    default: throw ConfigurationError("ATTRIBUTION_TLS_CLIENT_CERTIFICATE", "must be optional or required")
    }
    consentConnectTo = text("consent.connect.to")
    let loops = try number("event.loops", 0)
    if text("event.loops") != nil {
      guard (1...1024).contains(loops) else { throw ConfigurationError("ATTRIBUTION_EVENT_LOOPS", "must be 1 to 1024") }
      eventLoops = loops
    }
    logLevel = text("log.level") ?? "info"
    development = flag("development")
    drainDelay = .milliseconds(try number("drain.delay.ms", 5000))
    timeScale = try number("time.scale", 1.0)
    if timeScale != 1, !development {
      throw ConfigurationError("ATTRIBUTION_TIME_SCALE", "is for development (ATTRIBUTION_DEVELOPMENT=1)")
    }
    pathPrefix = text("path.prefix") ?? ""
    auditFile = text("audit.file")
    benchmarkEcho = flag("benchmark.echo")
    if benchmarkEcho, !development {
      throw ConfigurationError("ATTRIBUTION_BENCHMARK_ECHO", "is for development (ATTRIBUTION_DEVELOPMENT=1)")
    }
    if let file = text("service.token.file") { serviceToken = try Self.secret(file) }
  }

  /// `redis.url` → `ATTRIBUTION_REDIS_URL`.
  private static func variable(_ name: String) -> String {
    "ATTRIBUTION_" + name.uppercased().replacingOccurrences(of: ".", with: "_")
  }

  private static func secret(_ path: String) throws(ConfigurationError) -> String {
    guard let attributes = try? FileManager.default.attributesOfItem(atPath: path),
      let text = try? String(contentsOfFile: path, encoding: .utf8)
    else { throw ConfigurationError("ATTRIBUTION_SERVICE_TOKEN_FILE", "\(path) cannot be read") }
    if let mode = (attributes[.posixPermissions] as? NSNumber)?.intValue, mode & 0o077 != 0 {
      throw ConfigurationError(
        "ATTRIBUTION_SERVICE_TOKEN_FILE",
        "\(path) has mode 0\(String(mode, radix: 8)): others may read it; chmod 0400 is right")
    }
    let token = text.trimmingCharacters(in: .whitespacesAndNewlines)
    guard token.utf8.count >= 16 else {
      throw ConfigurationError("ATTRIBUTION_SERVICE_TOKEN_FILE", "\(path) holds less than 16 characters")
    }
    return token
  }
}
