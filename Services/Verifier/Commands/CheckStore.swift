import ArgumentParser
import AttributionQueue
import Logging
import RedisClient
import ServiceRuntime

/// `verifier check-store`: checks whether the data in Redis is consistent, and repairs it on request (`StoreCheck` of the module
/// AttributionQueue).
struct CheckStore: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "check-store", abstract: "Read all shards in Redis and report inconsistent data.",
    discussion: """
      Finds its Redis as the service does (ATTRIBUTION_CONFIG, ATTRIBUTION_REDIS_URL, …) and may run while the system works. It writes \
      nothing without --repair. Exit code 0: the data is consistent; 1: it is not; 69: Redis is unavailable or refuses a command; 78: \
      the configuration is wrong.
      """)

  enum Output: String, ExpressibleByArgument { case text, json }

  @Option(help: "text or json.") var output = Output.text
  @Option(name: .customLong("most"), help: "Maximum number of faults to list; all are counted.") var maxFaults = 1000
  @Flag(help: "Repair what can be repaired without loss.") var repair = false
  @Flag(
    help: """
      Do not scan all keys. Records without messages, order lines without messages and unknown keys are then not found.
      """)
  var skipKeys = false
  @Option(help: "Number of shards to read concurrently.") var shards = 4

  func validate() throws {
    guard (1...1_000_000).contains(maxFaults) else { throw ValidationError("--most must be 1 to 1000000.") }
    guard (1...256).contains(shards) else { throw ValidationError("--shards must be 1 to 256.") }
  }

  func run() async throws {
    let (redis, recordTTL): (RedisClient, Duration)
    do throws(ConfigurationError) { (redis, recordTTL) = try Self.open() } catch { throw Self.refuse("\(error)", code: 78) }
    defer { redis.close() }
    var options = StoreCheck.Options()
    options.maxFaults = maxFaults
    options.repairs = repair
    options.walksKeys = !skipKeys
    options.concurrentShards = shards
    options.recordTTL = recordTTL
    let report: CheckReport
    do { report = try await StoreCheck(redis: redis, options: options).run() } catch { throw Self.refuse("\(error)", code: 69) }
    switch output {
    case .text: print(report.text, terminator: "")
    case .json: print(String(decoding: report.json, as: UTF8.self))
    }
    if !report.agrees { throw ExitCode(1) }
  }

  /// Connects to Redis as the service does. Returns also the setting that says how long records of deliveries are stored.
  private static func open() throws(ConfigurationError) -> (RedisClient, Duration) {
    let variables = try ServiceVariables(.verifier)
    let queues = try DeploymentConfiguration.load(path: variables.configurationPath).queue
    guard let url = variables.redisURL else { throw ConfigurationError("ATTRIBUTION_REDIS_URL", "is not set; the check needs a Redis") }
    var configuration = RedisClient.Configuration()
    configuration.tls = variables.redisTLS
    configuration.passwordFile = variables.redisPasswordFile
    configuration.commandTimeout = .seconds(30)
    let logger = Logger(label: "check-store") { _ in SwiftLogNoOpLogHandler() }
    return (RedisClient(url: url, configuration: configuration, logger: logger), queues.deliveryRecordTTL)
  }

  /// Writes the reason to standard error, and returns the error with which the command ends.
  private static func refuse(_ reason: String, code: Int32) -> ExitCode {
    StandardError.write("verifier check-store: \(reason)\n")
    return ExitCode(code)
  }
}
