import AttributionProtocol

extension PageToken {
  /// Parses the page token of a request; nil for the first page.
  static func checked(_ text: String?) throws(RPCError) -> PageToken? {
    guard let text, !text.isEmpty else { return nil }
    guard let token = PageToken(text) else { throw .invalidArgument(field: "pageToken", "is not a nextPageToken of this method") }
    return token
  }
}
