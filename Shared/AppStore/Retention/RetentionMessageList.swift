/// The messages that Apple shows: it shows a message only if the message and all of its images are approved, and a message with an image
/// only by itself, neither with an offer nor with another product (Retention Messaging API: Setting up retention messages).
public struct RetentionMessageList: Sendable, Hashable {
  private static let imageMark = "image:"

  /// Identifiers in lower case.
  public let approved: Set<String>
  /// Those of them that have an image.
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

  /// The list as texts: each identifier, and a second text for each message with an image. Older builds ignore the second text, because no
  /// message has such an identifier.
  public var texts: [String] { approved.sorted() + withImage.sorted().map { Self.imageMark + $0 } }

  /// Reads ``texts``.
  public init(texts: [String]) {
    self.init(
      approved: Set(texts.lazy.filter { !$0.hasPrefix(Self.imageMark) }),
      withImage: Set(texts.lazy.filter { $0.hasPrefix(Self.imageMark) }.map { String($0.dropFirst(Self.imageMark.count)) }))
  }
}
