extension EncodedArguments {
  /// The key by which a command is routed; nil for a command that any node may execute.
  ///
  /// Most commands have their key as the first argument. Scripts, stream reads and commands with a subcommand have it elsewhere.
  var routingKey: ArraySlice<UInt8>? {
    guard count > 1, let name = argument(at: 0).map({ String(decoding: $0, as: UTF8.self) }) else { return nil }
    switch name {
    case "EVALSHA", "EVAL":
      guard let number = argument(at: 2), number != [UInt8(ascii: "0")][...] else { return nil }
      return argument(at: 3)
    case "XREADGROUP", "XREAD":
      for index in 1..<count where argument(at: index).map({ $0.elementsEqual("STREAMS".utf8) }) == true { return argument(at: index + 1) }
      return nil
    case "XGROUP", "XINFO", "OBJECT", "MEMORY": return argument(at: 2)
    case "AUTH", "CLUSTER", "COMMAND", "CONFIG", "DBSIZE", "HELLO", "INFO", "PING", "ROLE", "SCAN", "SCRIPT", "SENTINEL", "TIME", "WAIT",
      "WAITAOF":
      return nil
    default: return argument(at: 1)
    }
  }

  /// The bytes of the argument at an index, counted from zero. Earlier arguments are skipped by their lengths.
  func argument(at index: Int) -> ArraySlice<UInt8>? {
    var remaining = index
    for chunk in chunks {
      var position = chunk.startIndex
      while position < chunk.endIndex {
        var length = 0
        position += 1
        while chunk[position] != 13 {
          length = length * 10 + Int(chunk[position] - 48)
          position += 1
        }
        let start = position + 2
        if remaining == 0 { return chunk[start..<(start + length)] }
        remaining -= 1
        position = start + length + 2
      }
    }
    return nil
  }
}
