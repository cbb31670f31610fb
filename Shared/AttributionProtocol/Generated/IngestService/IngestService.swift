// Made by Generator/generate.py from the contract; change the .proto file instead.

/// The outcome of deliveries, and ATT statuses.
public enum IngestService {
  /// The full RPC name.
  public static let name = "attribution.ingest.v1.IngestService"

  /// Every method, in the order of the contract.
  public static let methods: [any RPCMethod.Type] = [
    GetDelivery.self,
    GetAttStatus.self,
  ]

  /// The state of a delivery.
  public enum GetDelivery: RPCMethod {
    public typealias Request = GetDeliveryRequest
    public typealias Response = GetDeliveryResponse
    public static let service = IngestService.name
    public static let name = "GetDelivery"
    public static let idempotency = IdempotencyClass.read(getAllowed: true)
    public static let timeLimit = RPCTimeLimit(default: .milliseconds(10000), maximum: .milliseconds(60000))
    public static let isBatch = false
  }

  /// The last known App Tracking Transparency status of an app on a device.
  public enum GetAttStatus: RPCMethod {
    public typealias Request = GetAttStatusRequest
    public typealias Response = GetAttStatusResponse
    public static let service = IngestService.name
    public static let name = "GetAttStatus"
    public static let idempotency = IdempotencyClass.read(getAllowed: true)
    public static let timeLimit = RPCTimeLimit(default: .milliseconds(10000), maximum: .milliseconds(60000))
    public static let isBatch = false
  }
}
