// Made by Generator/generate.py from the contract; change the .proto file instead.

public import AttributionProtocol

/// The outcome of deliveries, and ATT statuses.
public struct IngestServiceClient: Sendable {
  /// The client that makes the calls.
  public let rpc: RPCClient

  public init(_ rpc: RPCClient) { self.rpc = rpc }

  /// The state of a delivery.
  public func getDelivery(_ request: GetDeliveryRequest, options: CallOptions = CallOptions()) async throws(RPCError) -> GetDeliveryResponse
  {
    try await rpc.call(IngestService.GetDelivery.self, request, options)
  }

  /// The last known App Tracking Transparency status of an app on a device.
  public func getAttStatus(_ request: GetAttStatusRequest, options: CallOptions = CallOptions()) async throws(RPCError)
    -> GetAttStatusResponse
  {
    try await rpc.call(IngestService.GetAttStatus.self, request, options)
  }
}
