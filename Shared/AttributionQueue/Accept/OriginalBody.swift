import WireJSON

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
  /// Messages whose body is a part of what was sent.
  private static let partial = "notification"

  /// Attributes of a message whose body is a text inside the JSON object that its sender sent.
  ///
  /// - Parameters:
  ///   - name: the member that the text is the value of; the object has it once.
  ///   - body: the text.
  public static func attributes(of sent: [UInt8], valueOf name: String, body: [UInt8], contentType type: String?) -> [String: String] {
    // Found by its place in the document: a search would compare the text with each of its own beginnings that a stranger puts before it.
    guard let place = text(of: name, in: sent), sent[place].elementsEqual(body) else {
      var attributes = attributes(contentType: type)
      attributes[whole] = String(decoding: sent, as: UTF8.self)
      return attributes
    }
    return attributes(
      before: String(decoding: sent[..<place.lowerBound], as: UTF8.self), after: String(decoding: sent[place.upperBound...], as: UTF8.self),
      contentType: type)
  }

  /// The same where it is known what stands around the body.
  public static func attributes(before: String, after: String, contentType type: String?) -> [String: String] {
    var attributes = attributes(contentType: type)
    attributes[Self.before] = before
    attributes[Self.after] = after
    return attributes
  }

  /// The same where the body is all of it.
  public static func attributes(contentType type: String?) -> [String: String] {
    type == "application/json" ? [:] : [contentType: type ?? ""]
  }

  /// Whether it can be put together. A build of before did not say what stood around a body that is only a part of it.
  static func isKnown(of message: QueueMessage) -> Bool {
    message.kind != partial || message.attributes[before] != nil || message.attributes[whole] != nil
  }

  /// Where a member's text stands, without its quotation marks.
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
