import AppStore
public import AttributionProtocol
import Configuration
import Cryptography
public import RedisClient

#if canImport(Glibc)
  import Glibc
#endif

/// The environment variables `ATTRIBUTION_*`, for what differs between deployments and between the processes of one. What all services
/// share is in ``DeploymentConfiguration``.
public struct ServiceVariables: Sendable {
  public var configurationPath: String
  public var redisURL: RedisURL?
  /// The file with Redis' password; nil if the password is in the URL or there is none.
  public var redisPasswordFile: String?
  /// The user name for Sentinels; nil for their default user.
  public var sentinelUser: String?
  /// The file with the password for Sentinels; nil if they need no login.
  public var sentinelPasswordFile: String?
  public var redisTLS = RedisTLSFiles()
  public var listen: ListenAddress
  public var publicListen: ListenAddress
  public var signerURL: String
  /// The URL of verifier, which ingest asks for the history of subscriptions to choose retention messages.
  public var verifierURL: String
  /// The URL of notification-recovery, for verifier's console and ingest's retention messages. Both also work without it.
  public var notificationRecoveryURL: String?
  /// The URL of the App Store Server API in production; by default Apple's (`AppStoreServer.defaultBaseURL`).
  public var appStoreProductionURL: String
  /// The URL of the App Store Server API in the sandbox; by default Apple's (`AppStoreServer.defaultBaseURL`).
  public var appStoreSandboxURL: String
  /// The URL of the AdServices attribution API; by default Apple's.
  public var adServicesURL: String
  /// The file with the trust anchors of outgoing connections; nil for those of the system.
  public var caFile: String?
  /// The file with the trust anchors of connections to other services of the deployment; nil for ``caFile``.
  public var signerCAFile: String?
  /// The certificate of the internal listener; nil for connections without TLS.
  public var tls: ListenerTLS?
  /// The certificate of ingest's public listener; nil for connections without TLS.
  public var publicTLS: ListenerTLS?
  /// A `host:port` to which ingest connects instead of the hosts of consent strategies, for tests and demonstrations.
  public var consentConnectTo: String?
  /// The token that services use to call each other. Its caller may call every method.
  public var serviceToken: String?
  /// The number of event loops, which serve connections and on which verifier and the broker also work their queues; nil for one per
  /// available core.
  public var eventLoops: Int?
  public var logLevel: String
  /// True if settings are accepted that are only safe in development.
  public var development: Bool
  /// True if everyone may call every method; possible on loopback only.
  public var open: Bool
  /// The names under which the listeners may be addressed; nil for any name.
  public var hosts: AllowedHosts?
  /// How long the service goes on serving after SIGTERM while it already reports that it is not ready (``DrainGate``).
  public var drainDelay: Duration
  /// How long Redis may be unavailable before the service reports that it is not ready.
  public var redisAway: Duration
  /// How long the service waits for Redis and signer at start.
  public var startTimeout: Duration
  /// The factor by which retry schedules run faster (``ScaledClock``); development only.
  public var timeScale: Double
  /// A prefix of the paths of RPCs and of the console; empty for none.
  public var pathPrefix: String
  /// The file in which signer records its signatures; `-` for standard output.
  public var auditFile: String?
  /// What an instance of verifier does in addition to answering calls.
  public var verifierRoles: Set<VerifierRole>
  /// True if ``BenchmarkEcho`` is served; development only.
  public var benchmarkEcho: Bool

  public init(_ service: ServiceName) throws(ConfigurationError) {
    let reader = ConfigReader(provider: EnvironmentVariablesProvider())
    func text(_ name: String) -> String? {
      reader.string(forKey: ConfigKey("attribution." + name), isSecret: true).flatMap { $0.isEmpty ? nil : $0 }
    }
    func number<Number: LosslessStringConvertible>(_ name: String, _ defaultValue: Number) throws(ConfigurationError)
      -> Number
    {
      guard let value = text(name) else { return defaultValue }
      guard let number = Number(value) else { throw ConfigurationError(Self.variable(name), "must be a number") }
      return number
    }
    func flag(_ name: String) -> Bool { Self.isOn(text(name)) }
    guard let configurationPath = text("config") else {
      throw ConfigurationError("ATTRIBUTION_CONFIG", "is not set; it must name the configuration file")
    }
    self.configurationPath = configurationPath
    redisPasswordFile = text("redis.password.file")
    if let url = text("redis.url") {
      do throws(RedisError) { redisURL = try RedisURL(url, passwordIsInFile: redisPasswordFile != nil) } catch {
        throw ConfigurationError("ATTRIBUTION_REDIS_URL", "\(error)")
      }
      if let redisPasswordFile { _ = try Self.secret(redisPasswordFile, of: "redis.password.file") }
      redisTLS = try Self.redisTLS(text, isUsed: redisURL?.usesTLS == true)
      (sentinelUser, sentinelPasswordFile) = try Self.sentinelLogin(text, redisURL)
    }
    open = flag("open")
    let defaultHost = open ? "127.0.0.1" : "0.0.0.0"
    listen = ListenAddress(host: defaultHost, port: service.defaultPort)
    publicListen = ListenAddress(host: "0.0.0.0", port: ServiceName.defaultPublicPort)
    if let address = text("listen") { listen = try ListenAddress(address, variable: "ATTRIBUTION_LISTEN") }
    if let address = text("public.listen") {
      publicListen = try ListenAddress(address, variable: "ATTRIBUTION_PUBLIC_LISTEN")
    }
    if open, !["127.0.0.1", "::1", "localhost"].contains(listen.host) {
      throw ConfigurationError(
        "ATTRIBUTION_OPEN", "a service without credentials must listen on loopback only; ATTRIBUTION_LISTEN is another address")
    }
    hosts = try text("hosts").map { list throws(ConfigurationError) in try AllowedHosts(list) } ?? (open ? .loopback : nil)
    signerURL = text("signer.url") ?? "http://127.0.0.1:8091"
    verifierURL = text("verifier.url") ?? "http://127.0.0.1:8092"
    notificationRecoveryURL = text("notification.recovery.url")
    appStoreProductionURL = text("app.store.production.url") ?? AppStoreServer.production.defaultBaseURL
    appStoreSandboxURL = text("app.store.sandbox.url") ?? AppStoreServer.sandbox.defaultBaseURL
    adServicesURL = text("adservices.url") ?? "https://api-adservices.apple.com/api/v1/"
    caFile = try text("ca.file").map { path throws(ConfigurationError) in try Self.readable(path, of: "ca.file") }
    signerCAFile = try text("signer.ca.file").map { path throws(ConfigurationError) in try Self.readable(path, of: "signer.ca.file") }
    func listenerTLS(_ prefix: String) throws(ConfigurationError) -> ListenerTLS? {
      switch (text(prefix + "certificate"), text(prefix + "key")) {
      case (nil, nil): return nil
      case (let certificate?, let key?): return ListenerTLS(certificateFile: certificate, keyFile: key)
      case (nil, _): throw ConfigurationError(Self.variable(prefix + "certificate"), "is not set, but the key is")
      case (_, nil): throw ConfigurationError(Self.variable(prefix + "key"), "is not set, but the certificate is")
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
    let drainMilliseconds = try number("drain.delay.ms", 5000)
    guard (0...600_000).contains(drainMilliseconds) else {
      throw ConfigurationError("ATTRIBUTION_DRAIN_DELAY_MS", "must be 0 to 600000")
    }
    drainDelay = .milliseconds(drainMilliseconds)
    let awayMilliseconds = try number("redis.away.ms", 3000)
    guard (0...600_000).contains(awayMilliseconds) else {
      throw ConfigurationError("ATTRIBUTION_REDIS_AWAY_MS", "must be 0 to 600000")
    }
    redisAway = .milliseconds(awayMilliseconds)
    let startMilliseconds = try number("start.timeout.ms", 60_000)
    guard (0...3_600_000).contains(startMilliseconds) else {
      throw ConfigurationError("ATTRIBUTION_START_TIMEOUT_MS", "must be 0 to 3600000")
    }
    startTimeout = .milliseconds(startMilliseconds)
    timeScale = try number("time.scale", 1.0)
    if timeScale != 1, !development {
      throw ConfigurationError("ATTRIBUTION_TIME_SCALE", "is for development (ATTRIBUTION_DEVELOPMENT=1)")
    }
    pathPrefix = text("path.prefix") ?? ""
    auditFile = text("audit.file")
    verifierRoles = try VerifierRole.roles(text("verifier.roles"))
    benchmarkEcho = flag("benchmark.echo")
    if benchmarkEcho, !development {
      throw ConfigurationError("ATTRIBUTION_BENCHMARK_ECHO", "is for development (ATTRIBUTION_DEVELOPMENT=1)")
    }
    if let file = text("service.token.file") {
      let token = try Self.secret(file, of: "service.token.file")
      guard token.utf8.count >= 16 else {
        throw ConfigurationError("ATTRIBUTION_SERVICE_TOKEN_FILE", "\(file) contains a token of fewer than 16 characters")
      }
      serviceToken = token
    }
  }

  /// The TLS files for `rediss://`. With another kind of URL they are an error, because they would have no effect.
  private static func redisTLS(_ text: (String) -> String?, isUsed: Bool) throws(ConfigurationError) -> RedisTLSFiles {
    let files = RedisTLSFiles(
      caFile: text("redis.ca.file"), certificateFile: text("redis.certificate"), keyFile: text("redis.key"))
    guard isUsed else {
      guard files == RedisTLSFiles() else {
        throw ConfigurationError("ATTRIBUTION_REDIS_URL", "must begin with rediss://, because files for TLS are given")
      }
      return files
    }
    guard (files.certificateFile == nil) == (files.keyFile == nil) else {
      throw ConfigurationError(variable("redis.certificate"), "and \(variable("redis.key")) belong together; one is not set")
    }
    do throws(RedisError) { try files.check() } catch { throw ConfigurationError(variable("redis.certificate"), "\(error)") }
    return files
  }

  /// The login at Sentinels, which is separate from the one at Redis: the user name and the file with the password.
  private static func sentinelLogin(_ text: (String) -> String?, _ url: RedisURL?) throws(ConfigurationError) -> (String?, String?) {
    let (user, file) = (text("redis.sentinel.user"), text("redis.sentinel.password.file"))
    guard user != nil || file != nil else { return (nil, nil) }
    guard case .sentinel = url?.deployment else {
      throw ConfigurationError("ATTRIBUTION_REDIS_URL", "must begin with redis-sentinel://, because a login at Sentinels is given")
    }
    guard let file else {
      throw ConfigurationError(variable("redis.sentinel.password.file"), "is not set; \(variable("redis.sentinel.user")) has no password")
    }
    _ = try secret(file, of: "redis.sentinel.password.file")
    return (user, file)
  }

  /// True if `ATTRIBUTION_DEVELOPMENT` is set. It is for commands that need no other variable, such as `check-configuration`.
  static var isDevelopment: Bool { isOn(ProcessVariables.value("ATTRIBUTION_DEVELOPMENT")) }

  private static func isOn(_ text: String?) -> Bool { ["1", "true", "yes"].contains(text?.lowercased()) }

  /// `redis.url` → `ATTRIBUTION_REDIS_URL`.
  private static func variable(_ name: String) -> String {
    "ATTRIBUTION_" + String(name.uppercased().map { $0 == "." ? "_" : $0 })
  }

  /// Returns the path, and throws if the file cannot be read. Otherwise each outgoing call would fail, with an error that does not name the
  /// variable.
  private static func readable(_ path: String, of name: String) throws(ConfigurationError) -> String {
    guard access(path, R_OK) == 0 else { throw ConfigurationError(variable(name), "\(path) cannot be read") }
    return path
  }

  /// The first line of a file that only the service's user may be able to read, without spaces around it.
  private static func secret(_ path: String, of name: String) throws(ConfigurationError) -> String {
    do throws(KeyFileError) {
      let line = try PrivateFile.firstLine(path)
      return String(line.drop { $0.isWhitespace }.reversed().drop { $0.isWhitespace }.reversed())
    } catch {
      throw ConfigurationError(variable(name), error.text("file"))
    }
  }
}
