/// Commands that are sent together over one connection (``RedisSession``). Each is encoded when it is appended.
public struct EncodedCommands: Sendable {
  /// The arguments of all commands. Each command begins with the header of its array.
  private(set) var arguments: EncodedArguments
  /// The number of commands.
  public private(set) var count = 0

  /// - Parameter capacity: the approximate encoded size in bytes.
  public init(reserving capacity: Int = 1024) { arguments = EncodedArguments(reserving: capacity) }

  /// Appends a command.
  ///
  /// - Parameters:
  ///   - argumentCount: the number of arguments after the name.
  ///   - write: appends exactly this number of arguments.
  public mutating func append(_ name: String, arguments argumentCount: Int, _ write: (inout EncodedArguments) -> Void) {
    arguments.beginCommand(arguments: argumentCount + 1)
    let before = arguments.count
    arguments.append(name)
    write(&arguments)
    precondition(arguments.count == before + argumentCount + 1, "the closure must append exactly \(argumentCount) arguments of \(name)")
    count += 1
  }

  /// Appends a command without arguments.
  public mutating func append(_ name: String) { append(name, arguments: 0) { _ in } }
}
