/// The error for a control request for something that no device could send.
public struct PostbackError: Error, Sendable, CustomStringConvertible {
  public let description: String
  init(_ description: String) { self.description = description }
}
