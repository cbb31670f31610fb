import RedisClient

/// The fields of an event in the event stream: id (`i`), type (`t`), JSON (`e`), environment (`v`), and if the event has them, the ad
/// network (`n`), the app's Apple id (`p`) and its bundle id (`b`). commit.lua, commit_plain.lua and ``CommitTransaction`` write them in
/// this order. If original bytes are stored, commit.lua adds them (`o`) and their content type (`c`).
extension EventRecord {
  /// The number of arguments that ``appendFields(to:)`` appends: names and values.
  var streamArgumentCount: Int {
    8 + 2 * [attributes.adNetworkId != nil, attributes.appAppleId != nil, attributes.bundleId != nil].count { $0 }
  }

  func appendFields(to arguments: inout EncodedArguments) {
    arguments.append("i")
    arguments.append(id)
    arguments.append("t")
    arguments.append(type)
    arguments.append("e")
    arguments.append(json)
    // The environment is always written, even if empty: its presence shows that all attributes are known.
    arguments.append("v")
    arguments.append(attributes.environment ?? "")
    if let value = attributes.adNetworkId {
      arguments.append("n")
      arguments.append(value)
    }
    if let value = attributes.appAppleId {
      arguments.append("p")
      arguments.append(value)
    }
    if let value = attributes.bundleId {
      arguments.append("b")
      arguments.append(value)
    }
  }
}
