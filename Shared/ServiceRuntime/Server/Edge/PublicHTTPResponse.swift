/// A response of the public port.
public struct PublicHTTPResponse: Sendable {
  public var status: Int
  /// A JSON value.
  public var body: [UInt8]
  public var headers: [(String, String)]

  public init(status: Int, body: [UInt8] = [], headers: [(String, String)] = []) {
    self.status = status
    self.body = body
    self.headers = headers
  }
}
