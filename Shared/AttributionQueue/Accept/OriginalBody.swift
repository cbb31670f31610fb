import WireJSON

/// Message attributes from which the bytes that the sender sent can be rebuilt, if the body is only a part of them or has an unusual
/// content type.
///
/// While a subscription requests original bytes, commit.lua stores them beside the event. It rebuilds them from the body and these
/// attributes, so that the queue does not store the same bytes twice.
public enum OriginalBody {
  /// The content type. Attribute absent: `application/json`; empty: the sender named none.
  static let contentType = "contentType"
  /// The bytes that the sender sent before the body, and those after it.
  static let before = "bodyBefore"
  static let after = "bodyAfter"
  /// All bytes that the sender sent, if they do not contain the body literally, for example because it is escaped in them.
  static let whole = "bodyWhole"
  /// The kind of messages whose body is a part of what was sent: `NotificationMessage.kind` of AppStore, which this module does not import.
  private static let partial = "notification"

  /// Attributes of a message whose body is a text inside the JSON object that its sender sent.
  ///
  /// - Parameters:
  ///   - name: the name of the member whose value is the text; the object has exactly one such member.
  ///   - body: the text.
  public static func attributes(of sent: [UInt8], valueOf name: String, body: [UInt8], contentType type: String?) -> [String: String] {
    // The parser locates the body. A text search could be slowed down by a sender who repeats prefixes of the body before it.
    guard let range = text(of: name, in: sent), sent[range].elementsEqual(body) else {
      var attributes = attributes(contentType: type)
      attributes[whole] = String(decoding: sent, as: UTF8.self)
      return attributes
    }
    return attributes(
      before: String(decoding: sent[..<range.lowerBound], as: UTF8.self), after: String(decoding: sent[range.upperBound...], as: UTF8.self),
      contentType: type)
  }

  /// The attributes if the bytes before and after the body are known.
  public static func attributes(before: String, after: String, contentType type: String?) -> [String: String] {
    var attributes = attributes(contentType: type)
    attributes[Self.before] = before
    attributes[Self.after] = after
    return attributes
  }

  /// The attributes if the body is everything that was sent.
  public static func attributes(contentType type: String?) -> [String: String] {
    type == "application/json" ? [:] : [contentType: type ?? ""]
  }

  /// True if the original bytes can be rebuilt. Older builds did not store the bytes before and after a body that is only a part.
  static func isKnown(of message: QueueMessage) -> Bool {
    message.kind != partial || message.attributes[before] != nil || message.attributes[whole] != nil
  }

  /// The range of a member's string value without its quotation marks.
  private static func text(of name: String, in json: [UInt8]) -> Range<Int>? {
    var reader = JSONReader(json, limits: .ownDocuments)
    do throws(JSONError) {
      try reader.beginObject()
      while let key = try reader.nextKey() {
        let kind = try reader.peek()
        let start = reader.position
        try reader.passValue()
        if key == name { return kind == .string ? start + 1..<reader.position - 1 : nil }
      }
    } catch { return nil }
    return nil
  }
}
