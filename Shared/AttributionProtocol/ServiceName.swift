/// The five services, by the names of their executables.
public enum ServiceName: String, Sendable, Hashable, CaseIterable {
  case signer
  case verifier
  case ingest
  case notificationRecovery = "notification-recovery"
  case asaTokenBroker = "asa-token-broker"

  /// The internal port unless configured otherwise.
  public var defaultPort: Int {
    switch self {
    case .ingest: 8090
    case .signer: 8091
    case .verifier: 8092
    case .notificationRecovery: 8093
    case .asaTokenBroker: 8094
    }
  }

  /// Whether the service cannot work without the queues: the signer goes on signing while Redis is away.
  public var needsQueues: Bool { self != .signer }

  /// Whether the service cannot work without signer: each of its calls to Apple carries a token that signer made.
  public var needsSigner: Bool { self == .notificationRecovery }

  /// Ingest's port for devices, the App Store and SDKs.
  public static let defaultPublicPort = 8080
}
