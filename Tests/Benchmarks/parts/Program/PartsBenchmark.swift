/// Measures parts that this project has written itself beside a library that does the same, in one process and on one core.
///
///     parts-benchmark measure SECONDS POSTBACK    prints one line for each measurement: name, ours, library; nanoseconds for one operation
///     parts-benchmark serve PORT                  Hummingbird, one event loop, answers POST /benchmark.echo/Echo with fixed bytes
@main
struct PartsBenchmark {
  static func main() async throws {
    let arguments = CommandLine.arguments
    switch arguments.count > 1 ? arguments[1] : "" {
    case "measure" where arguments.count == 4:
      guard let seconds = Double(arguments[2]) else { fatalError("SECONDS must be a number") }
      let rounds = Rounds(seconds: seconds)
      try Signatures().measure(rounds)
      try Documents(path: arguments[3]).measure(rounds)
    case "serve" where arguments.count == 3:
      guard let port = Int(arguments[2]) else { fatalError("PORT must be a number") }
      try await EchoServer.run(port: port)
    default: fatalError("measure SECONDS POSTBACK, or serve PORT")
    }
  }
}
