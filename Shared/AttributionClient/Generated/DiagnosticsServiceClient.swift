// Made by Generator/generate.py from the contract; change the .proto file instead.

public import AttributionProtocol

/// Checks of a service and of everything that it depends on. Served by every service.
public struct DiagnosticsServiceClient: Sendable {
  /// The client that makes the calls.
  public let rpc: RPCClient

  public init(_ rpc: RPCClient) { self.rpc = rpc }

  /// Checks Redis and its settings, clocks, certificates, and whether the servers that this service calls can be reached.
  public func diagnose(_ request: DiagnoseRequest, options: CallOptions = CallOptions()) async throws(RPCError) -> DiagnoseResponse {
    try await rpc.call(DiagnosticsService.Diagnose.self, request, options)
  }
}
