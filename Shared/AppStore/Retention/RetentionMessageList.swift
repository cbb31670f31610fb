/// The messages that Apple shows (Retention Messaging API: Setting up retention messages). Apple shows a message only if the message and
/// all of its images are approved. A message with an image is shown only alone, neither with an offer nor with another product.
public struct RetentionMessageList: Sendable, Hashable {
  /// Begins a text of ``texts`` that marks a message with an image.
  private static let imageMark = "image:"

  /// The identifiers of the approved messages, in lower case.
  public let approved: Set<String>
  /// The identifiers of the approved messages that have an image.
  public let withImage: Set<String>

  public init(approved: Set<String>, withImage: Set<String> = []) {
    self.approved = approved
    self.withImage = withImage.intersection(approved)
  }

  /// True if Apple shows the message in an answer of this kind.
  public func shows(_ identifier: String, in content: RetentionProposal.Content) -> Bool {
    guard approved.contains(identifier) else { return false }
    return switch content {
    case .message: true
    case .alternateProduct, .promotionalOffer, .advancedCommerce: !withImage.contains(identifier)
    }
  }

  /// The list as texts, for storage: each identifier, and a second text for each message with an image. A build that does not know the
  /// second kind ignores it, because no message has such an identifier.
  public var texts: [String] { approved.sorted() + withImage.sorted().map { Self.imageMark + $0 } }

  /// Reads ``texts``.
  public init(texts: [String]) {
    self.init(
      approved: Set(texts.lazy.filter { !$0.hasPrefix(Self.imageMark) }),
      withImage: Set(texts.lazy.filter { $0.hasPrefix(Self.imageMark) }.map { String($0.dropFirst(Self.imageMark.count)) }))
  }
}
