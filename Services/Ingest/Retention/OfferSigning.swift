import AttributionClient
import AttributionProtocol
import ServiceRuntime
import Synchronization
import Traces

/// Calls signer to sign offers. The offers of requests that arrive in the same turn of an event loop are sent in one call (`SignOffers`).
final class OfferSigning: Sendable {
  /// The most offers in one call.
  private static let maxItems = 64
  /// How long offers are sent in single calls after signer has refused `SignOffers`: a signer of an earlier build does not know the method,
  /// and an earlier configuration does not list it for this caller.
  private static let singlyFor: Duration = .seconds(10)

  private let signer: RPCClient
  private let batches: LoopBatches<OfferItem, OfferResult>
  private let singlyUntil = Mutex(ContinuousClock.now)

  init(signer: RPCClient) {
    self.signer = signer
    batches = LoopBatches(maxItems: Self.maxItems) { items, time throws(RPCError) in
      try await signer.call(SignerService.SignOffers.self, SignOffersRequest(items: items), timeout: time).results
    }
  }

  /// Throws if signer does not sign in time.
  func sign(_ item: OfferItem, within time: Duration, _ request: PublicHTTPRequest) async throws(RPCError) -> OfferResult {
    // A recorded trace shows only the call of its own request, so a traced request does not join a batch.
    guard Span.current == nil, singlyUntil.withLock({ $0 <= .now }) else { return try await single(item, within: time, request) }
    let began = ContinuousClock.now
    let result: OfferResult
    do throws(RPCError) { result = try await batches.ask(item, within: time) } catch {
      guard error.code == .unimplemented || error.code == .permissionDenied else { throw error }
      singlyUntil.withLock { $0 = .now + Self.singlyFor }
      return try await single(item, within: time - began.duration(to: .now), request)
    }
    if let error = result.error { throw RPCError(RPCCode(rawValue: error.code) ?? .unknown, error.message) }
    return result
  }

  private func single(_ item: OfferItem, within time: Duration, _ request: PublicHTTPRequest) async throws(RPCError) -> OfferResult {
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
    throw RPCError(.internal, "no such offer")
  }
}
