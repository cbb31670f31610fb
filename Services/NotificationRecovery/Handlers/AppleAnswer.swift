import AttributionProtocol
import WireJSON

/// A response with Apple's answer and its decoded JWS.
protocol AppleAnswer: RPCMessage {
  var response: JSONObject? { get set }
  var decoded: [JSONObject] { get set }
  var environment: String { get set }
}

extension AppleAnswer {
  init(_ answer: AppStoreCalls.Answer) {
    self.init()
    response = answer.response
    decoded = answer.decoded
    environment = answer.server.rawValue
  }
}

extension GetTransactionInfoResponse: AppleAnswer {}
extension GetAppTransactionInfoResponse: AppleAnswer {}
extension GetSubscriptionStatusesResponse: AppleAnswer {}
extension GetTransactionHistoryResponse: AppleAnswer {}
extension LookUpOrderResponse: AppleAnswer {}
extension GetRefundHistoryResponse: AppleAnswer {}
extension ExtendSubscriptionRenewalDateResponse: AppleAnswer {}
extension ExtendRenewalDatesForAllSubscribersResponse: AppleAnswer {}
extension GetRenewalDateExtensionStatusResponse: AppleAnswer {}
extension SendConsumptionInformationResponse: AppleAnswer {}
extension SetAppAccountTokenResponse: AppleAnswer {}
extension FinishTransactionResponse: AppleAnswer {}
