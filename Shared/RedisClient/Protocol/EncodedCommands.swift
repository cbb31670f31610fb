/// Commands that are sent together over one connection, encoded as soon as they are known.
public struct EncodedCommands: Sendable {
  /// The arguments of all commands; each command begins with the header of its array.
  private(set) var words: EncodedArguments
  public private(set) var count = 0

  /// `capacity`: the approximate encoded size, bytes.
  public init(reserving capacity: Int = 1024) { words = EncodedArguments(reserving: capacity) }

  /// Appends a command.
  ///
  /// - Parameters:
  ///   - arguments: the number of arguments after the name. `write` must append exactly as many.
  public mutating func append(_ name: String, arguments: Int, _ write: (inout EncodedArguments) -> Void) {
    words.beginCommand(words: arguments + 1)
    let before = words.count
    words.append(name)
    write(&words)
    precondition(words.count == before + arguments + 1, "a command has as many words as it was begun with")
    count += 1
  }

  /// Appends a command without arguments.
  public mutating func append(_ name: String) { append(name, arguments: 0) { _ in } }
}
