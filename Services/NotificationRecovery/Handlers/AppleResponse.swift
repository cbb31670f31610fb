import AttributionProtocol
import WireJSON

/// A response with Apple's response and its decoded JWS.
protocol AppleResponse: RPCMessage {
  var response: JSONObject? { get set }
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
