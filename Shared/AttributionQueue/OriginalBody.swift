/// What a sender sent, where a message's body is only a part of it, or has another content type than most.
///
/// While a subscription asks for original bytes, commit writes them beside the event (commit.lua). It puts them together from the body and
/// these attributes, so that they take up next to nothing in the queue.
public enum OriginalBody {
  /// The content type; `application/json` when absent, none when empty.
  static let contentType = "contentType"
  /// What stands before the body, and behind it.
  static let before = "bodyBefore"
  static let after = "bodyAfter"
  /// All of it, where the body does not stand in it as it is.
  static let whole = "bodyWhole"

  /// A message's attributes that tell what its sender sent.
  public static func attributes(of sent: [UInt8], holding body: [UInt8], contentType type: String?) -> [String: String] {
    var attributes = attributes(contentType: type)
    guard sent != body else { return attributes }
    guard !body.isEmpty, let place = first(body, in: sent) else {
      attributes[whole] = String(decoding: sent, as: UTF8.self)
      return attributes
    }
    attributes[before] = String(decoding: sent[..<place], as: UTF8.self)
    attributes[after] = String(decoding: sent[(place + body.count)...], as: UTF8.self)
    return attributes
  }

  /// The same where the body is all of it.
  public static func attributes(contentType type: String?) -> [String: String] {
    type == "application/json" ? [:] : [contentType: type ?? ""]
  }

  private static func first(_ body: [UInt8], in sent: [UInt8]) -> Int? {
    guard sent.count >= body.count else { return nil }
    return (0...(sent.count - body.count)).first { sent[$0] == body[0] && sent[$0..<($0 + body.count)].elementsEqual(body) }
  }
}
