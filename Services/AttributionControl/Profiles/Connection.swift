import AttributionClient
import AttributionProtocol
import Cryptography
import HTTPClient

/// The clients of the services for one command.
///
/// ```swift
/// let connection = try Connection(options)
/// let response = try await connection.ask(.verifier) { () throws(RPCError) in
///   try await connection.queues.listQueues(ListQueuesRequest())
/// }
/// ```
struct Connection: Sendable {
  let layer: ConnectionLayer
  let client: AttributionClient
  let http: HTTPClient
  let printer: Printer

  init(_ options: ConnectionOptions) throws(CommandFailure) { try self.init(try options.resolved()) }

  init(_ layer: ConnectionLayer) throws(CommandFailure) {
    self.layer = layer
    var configuration = HTTPClientConfiguration()
    configuration.caFile = layer.caFile
    configuration.certificateFile = layer.certificateFile
    configuration.keyFile = layer.keyFile
    http = HTTPClient(configuration: configuration)
    var addresses: [ServiceName: String] = [:]
    for name in ServiceName.allCases { addresses[name] = layer.url(of: .service(name)) }
    client = AttributionClient(at: addresses, token: try Self.token(layer.token), http: http)
    printer = Printer(format: layer.output ?? .table)
  }

  /// The queues, as verifier reports them. They are in Redis, so every service with queues would give the same answer.
  var queues: QueuesServiceClient {
    client.queues(of: .verifier) ?? QueuesServiceClient(RPCClient(baseURL: layer.url(of: .service(.verifier)), token: nil, http: http))
  }

  /// The text of the token, read from its file if necessary.
  private static func token(_ token: ConnectionLayer.Token?) throws(CommandFailure) -> String? {
    switch token {
    case .text(let text): return text
    case .file(let path):
      let line: String
      do throws(KeyFileError) { line = try PrivateFile.firstLine(path) } catch {
        throw CommandFailure(.configuration, error.text("token file"))
      }
      let token = line.split(separator: " ").joined()
      guard !token.isEmpty, token.utf8.allSatisfy({ (33...126).contains($0) }) else {
        throw CommandFailure(.configuration, "token file \(path) contains no token")
      }
      return token
    case nil: return nil
    }
  }

  /// Calls a method of a service; its error becomes a failure that names the service and its address.
  func ask<Response>(_ service: ServiceName, _ call: () async throws(RPCError) -> Response) async throws(CommandFailure) -> Response {
    do throws(RPCError) { return try await call() } catch {
      throw CommandFailure(error, service: "\(service.rawValue) at \(layer.url(of: .service(service)))")
    }
  }
}
