import AttributionClient
import AttributionProtocol
import ServiceRuntime
import Synchronization
import Traces

/// Calls signer to sign offers. The offers of requests that arrive in the same turn of an event loop are sent in one call (`SignOffers`),
/// which is cheaper.
final class OfferSigning: Sendable {
  /// The greatest number of offers in one call.
  private static let maxItems = 64
  /// The time for which each offer is sent in a call of its own after signer has refused `SignOffers`: an earlier build of signer does not
  /// have the method, and an earlier configuration does not permit it to this caller.
  private static let singleCallsTime: Duration = .seconds(10)

  private let signer: RPCClient
  private let batches: LoopBatches<OfferItem, OfferResult>
  private let singleCallsUntil = Mutex(ContinuousClock.now)

  init(signer: RPCClient) {
    self.signer = signer
    batches = LoopBatches(maxItems: Self.maxItems) { items, time throws(RPCError) in
      try await signer.call(SignerService.SignOffers.self, SignOffersRequest(items: items), timeout: time).results
    }
  }

  /// The signed offer. Throws if signer does not sign in time.
  func sign(_ item: OfferItem, within time: Duration, _ request: PublicHTTPRequest) async throws(RPCError) -> OfferResult {
    // The call of a batch belongs to no single trace, so a request whose trace is recorded has a call of its own.
    guard Span.current == nil, singleCallsUntil.withLock({ $0 <= .now }) else { return try await signSingly(item, within: time, request) }
    let startedAt = ContinuousClock.now
    let result: OfferResult
    do throws(RPCError) { result = try await batches.ask(item, within: time) } catch {
      guard error.code == .unimplemented || error.code == .permissionDenied else { throw error }
      singleCallsUntil.withLock { $0 = .now + Self.singleCallsTime }
      return try await signSingly(item, within: time - startedAt.duration(to: .now), request)
    }
    if let error = result.error { throw RPCError(RPCCode(rawValue: error.code) ?? .unknown, error.message) }
    return result
  }

  /// Signs one offer in a call of its own.
  private func signSingly(_ item: OfferItem, within time: Duration, _ request: PublicHTTPRequest) async throws(RPCError) -> OfferResult {
    let (traceparent, id) = (request.traceparent, request.requestId)
    if let offer = item.promotionalOfferJws {
      return OfferResult(
        promotionalOfferJws: try await signer.call(
          SignerService.SignPromotionalOfferJWS.self, offer, timeout: time, traceparent: traceparent, requestId: id))
    }
    if let offer = item.promotionalOffer {
      return OfferResult(
        promotionalOffer: try await signer.call(
          SignerService.SignPromotionalOffer.self, offer, timeout: time, traceparent: traceparent, requestId: id))
    }
    if let offer = item.advancedCommerceRequest {
      return OfferResult(
        advancedCommerceRequest: try await signer.call(
          SignerService.SignAdvancedCommerceRequest.self, offer, timeout: time, traceparent: traceparent, requestId: id))
    }
    throw RPCError(.internal, "the item has no offer of a known kind")
  }
}
