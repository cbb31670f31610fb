import AttributionProtocol
import WireJSON

/// A response of an RPC that contains Apple's response.
protocol AppleResponse: RPCMessage {
  /// Apple's response, unchanged.
  var response: JSONObject? { get set }
  /// The payloads of the JWS in Apple's response, in their order.
  var decoded: [JSONObject] { get set }
  var environment: String { get set }
}

extension AppleResponse {
  init(_ verified: AppStoreCalls.Response) {
    self.init()
    response = verified.body
    decoded = verified.decoded
    environment = verified.server.rawValue
  }
}

extension GetTransactionInfoResponse: AppleResponse {}
extension GetAppTransactionInfoResponse: AppleResponse {}
extension GetSubscriptionStatusesResponse: AppleResponse {}
extension GetTransactionHistoryResponse: AppleResponse {}
extension LookUpOrderResponse: AppleResponse {}
extension GetRefundHistoryResponse: AppleResponse {}
extension ExtendSubscriptionRenewalDateResponse: AppleResponse {}
extension ExtendRenewalDatesForAllSubscribersResponse: AppleResponse {}
extension GetRenewalDateExtensionStatusResponse: AppleResponse {}
extension SendConsumptionInformationResponse: AppleResponse {}
extension SetAppAccountTokenResponse: AppleResponse {}
extension FinishTransactionResponse: AppleResponse {}
