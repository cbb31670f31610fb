/// The reason why a control request cannot be carried out. It is answered with status 400.
public struct ControlError: Error, Sendable, CustomStringConvertible {
  public let description: String
  init(_ description: String) { self.description = description }
}
