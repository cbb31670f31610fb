import AppleSimulator
import ArgumentParser
import Logging

/// The command `apple-simulator`, which simulates Apple's servers and devices on loopback.
@main
struct AppleSimulatorCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "apple-simulator",
    abstract:
      "Simulates Apple over HTTPS: devices, App Store notifications, the App Store Server API, AdServices, session hosts.")

  @Option(help: "Host and port of the HTTPS server.")
  var listen = "127.0.0.1:8099"

  @Option(help: "Directory for keys, certificates, registered apps and simulator.json.")
  var state: String

  @Option(help: "The number of simulated seconds in a real second, for retry intervals, lifetimes of tokens and hourly limits.")
  var timeScale: Double = 1

  @Option(help: "Seed of all generated values; without it, each start uses another seed.")
  var seed: UInt64?

  @Option(help: "Host and port of an additional server for the control API, in plain HTTP.")
  var controlListen: String?

  @Option(help: "JSON file {\"apps\": […]} with apps and their API keys, which are registered at the start.")
  var clients: String?

  func run() async throws {
    guard timeScale > 0 else { throw ValidationError("--time-scale must be above 0") }
    var logger = Logger(label: "apple-simulator", factory: { StreamLogHandler.standardError(label: $0) })
    logger.logLevel = .info
    var configuration = AppleSimulator.Configuration(stateDirectory: state)
    (configuration.host, configuration.port) = try Self.address(listen, "--listen")
    if let controlListen { configuration.control = try Self.address(controlListen, "--control-listen") }
    configuration.timeScale = timeScale
    configuration.seed = seed ?? UInt64.random(in: 1...UInt64.max)
    logger.info("starting", metadata: ["seed": "\(configuration.seed)", "time-scale": "\(timeScale)"])
    let simulator = try AppleSimulator(configuration)
    if let clients { try simulator.registerApps(fromFile: clients) }
    try await simulator.run(logger: logger, others: [PromptExit()])
  }

  private static func address(_ text: String, _ option: String) throws -> (String, Int) {
    let parts = text.split(separator: ":")
    guard parts.count == 2, let port = Int(parts[1]), (0...65_535).contains(port) else {
      throw ValidationError("\(option) must be HOST:PORT, not \(text)")
    }
    return (String(parts[0]), port)
  }
}
