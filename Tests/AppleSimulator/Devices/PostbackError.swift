/// Thrown when a control request asks for a postback that no device could send.
public struct PostbackError: Error, Sendable, CustomStringConvertible {
  public let description: String
  init(_ description: String) { self.description = description }
}
