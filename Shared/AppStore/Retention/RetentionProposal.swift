/// A proposed answer: its message is chosen, but it may still have to be signed. ``RealtimeAnswer`` is the finished answer.
public struct RetentionProposal: Sendable, Hashable {
  /// A promotional offer to be signed.
  public struct Offer: Sendable, Hashable {
    /// The version of the signature.
    public enum SignatureVersion: String, Sendable, Hashable, CaseIterable {
      /// The first version (``PromotionalOffer``).
      case v1 = "V1"
      /// The second version, a JWS that names the customer's transaction (``AppStoreRequestJWS``).
      case v2 = "V2"
    }

    public let offerIdentifier: String
    /// The product of the offer; nil for the customer's current product.
    public let productId: String?
    public let version: SignatureVersion
    /// The app account token for the resulting transaction, a UUID in lower case; only with V1, whose signature contains it.
    public let appAccountToken: String?

    public init(
      offerIdentifier: String?, productId: String? = nil, version: String? = nil, appAccountToken: String? = nil
    ) throws(RequestRefusal) {
      self.offerIdentifier = try RetentionFieldRules.text(offerIdentifier, "offerIdentifier")
      self.productId = try productId.map { text throws(RequestRefusal) in try RetentionFieldRules.text(text, "productId") }
      guard let known = SignatureVersion(rawValue: version ?? SignatureVersion.v2.rawValue) else {
        throw RequestRefusal(field: "signatureVersion", "must be V2 or V1")
      }
      self.version = known
      guard appAccountToken == nil || known == .v1 else {
        throw RequestRefusal(field: "appAccountToken", "must be absent: only a signature of version V1 contains it")
      }
      self.appAccountToken = try appAccountToken.map { text throws(RequestRefusal) in try RetentionFieldRules.uuid(text, "appAccountToken")
      }
    }
  }

  /// What the answer shows.
  public enum Content: Sendable, Hashable {
    case message
    case alternateProduct(productId: String, billingPlanType: String?)
    case promotionalOffer(Offer)
    /// The JSON text of a request. Before it is signed, the values for the customer are added (``AdvancedCommerceOffer/request(_:for:)``).
    case advancedCommerce(request: String)
  }

  /// Apple's billing plans (billingPlanType).
  public static let billingPlanTypes: Set = ["BILLED_UPFRONT", "MONTHLY"]

  /// A UUID in lower case.
  public let messageIdentifier: String
  public let content: Content

  public init(messageIdentifier: String?, _ content: Content) throws(RequestRefusal) {
    self.messageIdentifier = try RetentionFieldRules.uuid(messageIdentifier ?? "", "messageIdentifier")
    self.content = try Self.checked(content)
  }

  /// A proposal from values that were checked before.
  init(known messageIdentifier: String, _ content: Content) {
    self.messageIdentifier = messageIdentifier
    self.content = content
  }

  /// True if the service signer must sign the answer.
  public var needsSignature: Bool {
    switch content {
    case .message, .alternateProduct: false
    case .promotionalOffer, .advancedCommerce: true
    }
  }

  /// The finished answer if it needs no signature; otherwise nil.
  public var unsigned: RealtimeAnswer? {
    switch content {
    case .message: .message(identifier: messageIdentifier)
    case .alternateProduct(let product, let plan):
      .alternateProduct(identifier: messageIdentifier, productId: product, billingPlanType: plan)
    case .promotionalOffer, .advancedCommerce: nil
    }
  }

  /// Throws ``RequestRefusal`` for an invalid content.
  static func checked(_ content: Content) throws(RequestRefusal) -> Content {
    switch content {
    case .message, .promotionalOffer: break
    case .alternateProduct(let product, let plan):
      _ = try RetentionFieldRules.text(product, "productId")
      if let plan, !billingPlanTypes.contains(plan) { throw RequestRefusal(field: "billingPlanType", "must be BILLED_UPFRONT or MONTHLY") }
    case .advancedCommerce(let request): try AdvancedCommerceOffer.check(request)
    }
    return content
  }
}
