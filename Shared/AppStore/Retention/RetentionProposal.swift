/// An answer with a chosen message, which may still have to be signed.
public struct RetentionProposal: Sendable, Hashable {
  /// A promotional offer to be signed.
  public struct Offer: Sendable, Hashable {
    public enum SignatureVersion: String, Sendable, Hashable, CaseIterable {
      /// The original form.
      case v1 = "V1"
      /// A JWS, which names the customer's transaction.
      case v2 = "V2"
    }

    public let offerIdentifier: String
    /// The product of the offer; nil for the customer's current one.
    public let productId: String?
    public let version: SignatureVersion
    /// The token for the resulting transaction; only with V1.
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
        throw RequestRefusal(field: "appAccountToken", "is signed in the form V1 alone")
      }
      self.appAccountToken = try appAccountToken.map { text throws(RequestRefusal) in try RetentionFieldRules.uuid(text, "appAccountToken")
      }
    }
  }

  public enum Content: Sendable, Hashable {
    case message
    case alternateProduct(productId: String, billingPlanType: String?)
    case promotionalOffer(Offer)
    /// The JSON text of a request. What it needs for one customer is added before it is signed.
    case advancedCommerce(request: String)
  }

  /// The billing plans of Apple (billingPlanType).
  public static let billingPlanTypes: Set = ["BILLED_UPFRONT", "MONTHLY"]

  public let messageIdentifier: String
  public let content: Content

  public init(messageIdentifier: String?, _ content: Content) throws(RequestRefusal) {
    self.messageIdentifier = try RetentionFieldRules.uuid(messageIdentifier ?? "", "messageIdentifier")
    self.content = try Self.checked(content)
  }

  init(known messageIdentifier: String, _ content: Content) {
    self.messageIdentifier = messageIdentifier
    self.content = content
  }

  /// True if signer must sign it.
  public var needsSignature: Bool {
    switch content {
    case .message, .alternateProduct: false
    case .promotionalOffer, .advancedCommerce: true
    }
  }

  /// The answer, if it needs no signature; otherwise nil.
  public var unsigned: RealtimeAnswer? {
    switch content {
    case .message: .message(identifier: messageIdentifier)
    case .alternateProduct(let product, let plan):
      .alternateProduct(identifier: messageIdentifier, productId: product, billingPlanType: plan)
    case .promotionalOffer, .advancedCommerce: nil
    }
  }

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
