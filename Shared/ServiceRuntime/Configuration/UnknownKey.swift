/// A key of the configuration file that no setting has. It is most likely misspelt.
public struct UnknownKey: Sendable, Hashable, CustomStringConvertible {
  /// The key's path, such as `queues.leese`.
  public let path: String
  /// Counted from 1; 0 if the position is not known.
  public let line: Int
  /// Counted from 1; 0 if the position is not known.
  public let column: Int
  /// The most similar known key of the same mapping; nil if none is similar.
  public let nearest: String?

  init(path: String, line: Int, column: Int, known: Set<String>) {
    self.path = path
    self.line = line
    self.column = column
    nearest = Spelling.nearest(to: path.split(separator: ".").last.map(String.init) ?? path, among: known)
  }

  public var description: String { nearest.map { "\(path) (did you mean \($0)?)" } ?? path }
}

/// Finds the known word that a misspelt one may have meant.
public enum Spelling {
  /// The most similar known word, by the number of one-letter edits; nil if more edits than a third of the word's letters would be needed.
  public static func nearest(to word: String, among known: some Sequence<String>) -> String? {
    let letters = Array(word.lowercased())
    let maxDistance = max(1, letters.count / 3)
    var best: (word: String, distance: Int)?
    for candidate in known.sorted() {
      let distance = distance(letters, Array(candidate.lowercased()))
      if distance <= maxDistance, distance < best?.distance ?? .max { best = (candidate, distance) }
    }
    return best?.word
  }

  /// The number of edits that turn one word into the other: adding, removing or replacing a letter, or swapping two neighbours (optimal
  /// string alignment distance).
  static func distance(_ one: [Character], _ other: [Character]) -> Int {
    guard !one.isEmpty, !other.isEmpty else { return max(one.count, other.count) }
    var beforePrevious: [Int] = []
    var previous = Array(0...other.count)
    for i in 1...one.count {
      var row = [i] + [Int](repeating: 0, count: other.count)
      for j in 1...other.count {
        let replaced = previous[j - 1] + (one[i - 1] == other[j - 1] ? 0 : 1)
        row[j] = min(previous[j] + 1, row[j - 1] + 1, replaced)
        if i > 1, j > 1, one[i - 1] == other[j - 2], one[i - 2] == other[j - 1] { row[j] = min(row[j], beforePrevious[j - 2] + 1) }
      }
      (beforePrevious, previous) = (previous, row)
    }
    return previous[other.count]
  }
}
