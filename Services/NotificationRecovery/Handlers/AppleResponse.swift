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

/// A response of an RPC that looks data up at Apple, and names the JWS that are not as expected.
protocol LookUpResponse: AppleResponse {
  var problems: [SignedDataProblem] { get set }
}

extension AppleResponse {
  init(_ verified: AppStoreCalls.Response) {
    self.init()
    response = verified.body
    decoded = verified.decoded
    environment = verified.server.rawValue
  }
}

extension LookUpResponse {
  init(lookedUp verified: AppStoreCalls.Response) {
    self.init(verified)
    problems = verified.problems.map {
      SignedDataProblem(index: Int32($0.index), reason: $0.reason.rawValue, field: $0.field)
    }
  }
}

extension GetTransactionInfoResponse: LookUpResponse {}
extension GetAppTransactionInfoResponse: LookUpResponse {}
extension GetSubscriptionStatusesResponse: LookUpResponse {}
extension GetTransactionHistoryResponse: LookUpResponse {}
extension LookUpOrderResponse: LookUpResponse {}
extension GetRefundHistoryResponse: LookUpResponse {}
extension ExtendSubscriptionRenewalDateResponse: AppleResponse {}
extension ExtendRenewalDatesForAllSubscribersResponse: AppleResponse {}
extension GetRenewalDateExtensionStatusResponse: AppleResponse {}
extension SendConsumptionInformationResponse: AppleResponse {}
extension SetAppAccountTokenResponse: AppleResponse {}
extension FinishTransactionResponse: AppleResponse {}
