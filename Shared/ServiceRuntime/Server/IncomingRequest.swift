public import HTTPTypes

/// A request whose head is read and whose body is not yet.
public struct IncomingRequest: Sendable {
  public let method: String
  /// Without the query.
  public let path: String
  public let query: String?
  public let headers: HTTPFields
  /// The peer's address, without its port.
  public let peer: String?
  public let isHTTP2: Bool

  init(head: HTTPRequest, peer: String?, isHTTP2: Bool) {
    method = head.method.rawValue
    let target = head.path ?? "/"
    if let mark = target.utf8.firstIndex(of: UInt8(ascii: "?")) {
      path = String(target[..<mark])
      query = String(target[target.index(after: mark)...])
    } else {
      path = target
      query = nil
    }
    headers = head.headerFields
    self.peer = peer
    self.isHTTP2 = isHTTP2
  }

  /// The content type without its parameters, lower case.
  public var mediaType: String? {
    headers[.contentType].map { $0.prefix { $0 != ";" }.trimmingSpaces().lowercased() }
  }
}

extension StringProtocol {
  func trimmingSpaces() -> String {
    var rest = Substring(self)
    while let first = rest.first, first == " " || first == "\t" { rest = rest.dropFirst() }
    while let last = rest.last, last == " " || last == "\t" { rest = rest.dropLast() }
    return String(rest)
  }
}

/// Reads a request's body, bounded.
public protocol BodyReader: Sendable {
  /// Throws ``BodyError`` past the limit or the time.
  func read(limit: Int) async throws -> [UInt8]
}

/// Why a body was not read.
public enum BodyError: Error, Sendable {
  case tooLarge
  case timedOut
}

/// Answers requests of one listener.
public protocol HTTPResponder: Sendable {
  func respond(to request: IncomingRequest, body: any BodyReader) async -> HTTPAnswer
}
