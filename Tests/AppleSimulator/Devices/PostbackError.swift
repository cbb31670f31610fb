/// A control request that asks for what no device could send.
public struct PostbackError: Error, Sendable, CustomStringConvertible {
  public let description: String
  init(_ description: String) { self.description = description }
}
