// Made by Generator/generate.py from the contract; change the .proto file instead.

public import AttributionProtocol

/// What became of a delivery.
public struct IngestServiceClient: Sendable {
  /// What carries the calls.
  public let rpc: RPCClient

  public init(_ rpc: RPCClient) { self.rpc = rpc }

  /// The state of one delivery.
  public func getDelivery(_ request: GetDeliveryRequest, options: CallOptions = CallOptions()) async throws(RPCError) -> GetDeliveryResponse
  {
    try await rpc.call(IngestService.GetDelivery.self, request, options)
  }

  /// The last known status of App Tracking Transparency of one app on one device.
  public func getAttStatus(_ request: GetAttStatusRequest, options: CallOptions = CallOptions()) async throws(RPCError)
    -> GetAttStatusResponse
  {
    try await rpc.call(IngestService.GetAttStatus.self, request, options)
  }
}
