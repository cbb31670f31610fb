import RedisClient

/// The fields of an event in the event stream: id (`i`), type (`t`), JSON (`e`), environment (`v`), and if it has them the ad network (`n`), app
/// (`p`) and bundle (`b`). commit.lua, commit_plain.lua and ``CommitTransaction`` write them alike; commit.lua adds the original bytes if they
/// are kept.
extension EventRecord {
  /// The number of words of the fields: names and values.
  var streamWords: Int {
    8 + 2 * [attributes.adNetworkId != nil, attributes.appAppleId != nil, attributes.bundleId != nil].count { $0 }
  }

  func appendFields(to words: inout EncodedArguments) {
    words.append("i")
    words.append(id)
    words.append("t")
    words.append(type)
    words.append("e")
    words.append(json)
    // The environment is always written, even if empty: its presence shows that all attributes are known.
    words.append("v")
    words.append(attributes.environment ?? "")
    if let value = attributes.adNetworkId {
      words.append("n")
      words.append(value)
    }
    if let value = attributes.appAppleId {
      words.append("p")
      words.append(value)
    }
    if let value = attributes.bundleId {
      words.append("b")
      words.append(value)
    }
  }
}
