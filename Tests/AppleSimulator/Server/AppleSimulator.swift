import Foundation
import Hummingbird
import HummingbirdCore
import Logging
import NIOSSL
import ServiceLifecycle
import UnixSignals
import WireJSON

/// Simulates Apple on loopback. One HTTPS server has the App Store Server API, AdServices and the session hosts. The simulated devices and
/// the simulated App Store send requests to the services.
///
/// `init` reads or creates keys and certificates in the state directory, ``registerApps(fromFile:)`` adds apps, and
/// ``run(logger:signals:others:)`` serves. Each request goes to `SimulatorResponder`, which selects one of the components in
/// ``SimulatorParts``; read SimulatorResponder.swift next. The README describes the control API.
public struct AppleSimulator: Sendable {
  public struct Configuration: Sendable {
    public var host = "127.0.0.1"
    /// 0 lets the system choose; `simulator.json` then has the port.
    public var port = 0
    /// Host and port of the control API in plain HTTP, in addition to the one over HTTPS.
    public var control: (host: String, port: Int)?
    public var stateDirectory: String
    /// The number of simulated seconds in a real second.
    public var timeScale: Double = 1
    public var seed: UInt64 = 0

    public init(stateDirectory: String) { self.stateDirectory = stateDirectory }
  }

  let configuration: Configuration
  let directory: StateDirectory
  let tls: TLSIdentity
  public let parts: SimulatorParts

  public init(_ configuration: Configuration) throws {
    self.configuration = configuration
    directory = try StateDirectory(path: configuration.stateDirectory)
    // A file from an earlier run would say that requests are accepted already.
    directory.remove("simulator.json")
    tls = try TLSIdentity(in: directory, hosts: ["localhost", "simulator"] + ConsentHosts.all)
    parts = try SimulatorParts(
      directory: directory, tlsAuthorityPEM: tls.authorityPEM, timeScale: configuration.timeScale,
      seed: configuration.seed)
  }

  /// Registers the apps of a file `{"apps": [the bodies of POST /control/apps]}`.
  public func registerApps(fromFile path: String) throws {
    let text = try String(contentsOfFile: path, encoding: .utf8)
    for entry in try JSONValue(parsing: text)["apps"]?.arrayValue ?? [] {
      if let object = entry.objectValue { try parts.apps.register(SimulatedApp(object)) }
    }
  }

  /// Serves until the process receives one of the signals. `others` are services that run and end together with the server.
  public func run(logger: Logger, signals: [UnixSignal] = [.sigterm, .sigint], others: [any Service] = []) async throws {
    let all = try [parts.retryingSender] + self.services(logger: logger) + others
    let services = all.map { ServiceGroupConfiguration.ServiceConfiguration(service: $0) }
    var group = ServiceGroupConfiguration(services: services, gracefulShutdownSignals: signals, logger: logger)
    group.maximumGracefulShutdownDuration = .seconds(2)
    try await ServiceGroup(configuration: group).run()
  }

  private func services(logger: Logger) throws -> [any Service] {
    var tlsConfiguration = TLSConfiguration.makeServerConfiguration(
      certificateChain: try NIOSSLCertificate.fromPEMBytes(Array(tls.certificatePEM.utf8)).map { .certificate($0) },
      privateKey: .privateKey(try NIOSSLPrivateKey(bytes: Array(tls.keyPEM.utf8), format: .pem)))
    tlsConfiguration.minimumTLSVersion = .tlsv12
    let announce = self.announce
    // Only critical messages of Hummingbird are logged, because faults break many connections on purpose.
    var quiet = logger
    quiet.logLevel = max(logger.logLevel, .critical)
    let main = Application(
      responder: SimulatorResponder(parts: parts, controlOnly: false),
      server: HTTPServerBuilder { [tlsConfiguration, time = parts.time] in
        try SimulatorChannel(tls: tlsConfiguration, time: time, responder: $0)
      },
      configuration: .init(address: .hostname(configuration.host, port: configuration.port), serverName: nil),
      onServerRunning: { channel in announce(channel.localAddress?.port ?? 0, logger) }, logger: quiet)
    guard let control = configuration.control else { return [main] }
    let plain = Application(
      responder: SimulatorResponder(parts: parts, controlOnly: true),
      configuration: .init(address: .hostname(control.host, port: control.port), serverName: nil), logger: quiet)
    return [main, plain]
  }

  /// Writes `simulator.json` as the sign that requests are accepted. The file remains when the simulator ends; the next start removes it.
  private func announce(_ port: Int, _ logger: Logger) {
    let url = "https://\(configuration.host):\(port)"
    let control = configuration.control.map { "http://\($0.host):\($0.port)/control" } ?? url + "/control"
    let json: JSONValue = [
      "port": .integer(port), "url": .string(url), "control": .string(control),
      "appStoreProduction": .string(url + "/production"),
      "appStoreSandbox": .string(url + "/sandbox"), "adServices": .string(url + "/api/v1/"),
      "connectTo": .string("\(configuration.host):\(port)"), "caFile": .string(directory.path + "/tls-ca.pem"),
      "appStoreRoot": .string(directory.path + "/app-store-root.pem"),
      "appleKeys": .string(directory.path + "/apple-keys.yaml"),
      "timeScale": .number(JSONNumber(parts.time.scale) ?? JSONNumber(1)),
      "pid": .integer(ProcessInfo.processInfo.processIdentifier),
    ]
    do {
      try directory.write("simulator.json", json.serializedString)
      logger.info("the Apple simulator is ready", metadata: ["url": "\(url)", "state": "\(directory.path)"])
    } catch {
      logger.error("simulator.json cannot be written", metadata: ["error": "\(error)"])
    }
  }
}
