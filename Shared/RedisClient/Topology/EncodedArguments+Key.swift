extension EncodedArguments {
  /// The key by which a command is routed; nil for a command that any node may execute.
  ///
  /// Scripts, stream reads and a few commands with a subcommand have their key at another position than the first.
  var routingKey: ArraySlice<UInt8>? {
    guard count > 1, let name = word(at: 0).map({ String(decoding: $0, as: UTF8.self) }) else { return nil }
    switch name {
    case "EVALSHA", "EVAL":
      guard let number = word(at: 2), number != [UInt8(ascii: "0")][...] else { return nil }
      return word(at: 3)
    case "XREADGROUP", "XREAD":
      for index in 1..<count where word(at: index).map({ $0.elementsEqual("STREAMS".utf8) }) == true { return word(at: index + 1) }
      return nil
    case "XGROUP", "XINFO", "OBJECT", "MEMORY": return word(at: 2)
    case "AUTH", "CLUSTER", "COMMAND", "CONFIG", "DBSIZE", "HELLO", "INFO", "PING", "ROLE", "SCAN", "SCRIPT", "SENTINEL", "TIME", "WAIT",
      "WAITAOF":
      return nil
    default: return word(at: 1)
    }
  }

  /// The bytes of the argument at an index, counted from zero. Earlier arguments are skipped by their lengths.
  func word(at index: Int) -> ArraySlice<UInt8>? {
    var left = index
    for piece in pieces {
      var at = piece.startIndex
      while at < piece.endIndex {
        var length = 0
        at += 1
        while piece[at] != 13 {
          length = length * 10 + Int(piece[at] - 48)
          at += 1
        }
        let start = at + 2
        if left == 0 { return piece[start..<(start + length)] }
        left -= 1
        at = start + length + 2
      }
    }
    return nil
  }
}
