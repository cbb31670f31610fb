// Made by Generator/generate.py from the contract; change the .proto file instead.

/// Checks of a service and of everything that it depends on. Served by every service.
public enum DiagnosticsService {
  /// The full RPC name.
  public static let name = "attribution.diagnostics.v1.DiagnosticsService"

  /// Every method, in the order of the contract.
  public static let methods: [any RPCMethod.Type] = [
    Diagnose.self
  ]

  /// Checks Redis and its settings, clocks, certificates, and whether the servers that this service calls can be reached.
  public enum Diagnose: RPCMethod {
    public typealias Request = DiagnoseRequest
    public typealias Response = DiagnoseResponse
    public static let service = DiagnosticsService.name
    public static let name = "Diagnose"
    public static let idempotency = IdempotencyClass.read(getAllowed: true)
    public static let timeLimit = RPCTimeLimit(default: .milliseconds(20000), maximum: .milliseconds(60000))
    public static let isBatch = false
  }
}
