/// The five services, by the names of their executables.
public enum ServiceName: String, Sendable, Hashable, CaseIterable {
  case signer
  case verifier
  case ingest
  case notificationRecovery = "notification-recovery"
  case asaTokenBroker = "asa-token-broker"

  /// The internal port, on which RPCs are served, unless another one is configured.
  public var defaultPort: Int {
    switch self {
    case .ingest: 8090
    case .signer: 8091
    case .verifier: 8092
    case .notificationRecovery: 8093
    case .asaTokenBroker: 8094
    }
  }

  /// True if the service has queues, for which it needs Redis. Signer has none.
  public var needsQueues: Bool { self != .signer }

  /// True if the service cannot work without signer: each call to the App Store Server API needs a token that signer makes.
  public var needsSigner: Bool { self == .notificationRecovery }

  /// Ingest's port for devices, the App Store and SDKs, unless another one is configured.
  public static let defaultPublicPort = 8080
}
