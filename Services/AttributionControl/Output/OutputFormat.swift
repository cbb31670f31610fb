import ArgumentParser

/// The format of a command's output.
enum OutputFormat: String, Sendable, Hashable, CaseIterable, ExpressibleByArgument {
  /// For people: aligned columns, colours on a terminal.
  case table
  /// The services' own messages, indented.
  case json
  case yaml
}
