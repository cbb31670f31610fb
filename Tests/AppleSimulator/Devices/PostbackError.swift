/// Thrown if a control request asks for something that cannot happen at Apple: a postback that no device sends, or a step that a
/// subscription cannot take in its state.
public struct PostbackError: Error, Sendable, CustomStringConvertible {
  public let description: String
  init(_ description: String) { self.description = description }
}
