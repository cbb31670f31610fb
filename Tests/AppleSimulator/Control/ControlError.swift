/// A control request that cannot be done, and why.
public struct ControlError: Error, Sendable, CustomStringConvertible {
  public let description: String
  init(_ description: String) { self.description = description }
}
