import Yams

/// The nodes of a configuration file, from which faulty parts can be removed to check the rest. Paths always refer to the whole file.
struct ConfigurationTree {
  enum Step: Hashable {
    case member(String)
    case element(Int)
  }

  private(set) var root: Node
  /// For each list that lost elements, by its path: the original indices of the remaining elements.
  private var numbers: [[Step]: [Int]] = [:]

  init(_ root: Node) { self.root = root }

  /// The steps of a path such as `apps[0].bundleId` as far as they exist, and whether all exist. Keys may contain dots.
  func steps(to place: String) -> (found: [Step], isThere: Bool) {
    var (node, steps, rest) = (root, [Step](), place[...])
    while !rest.isEmpty {
      if rest.hasPrefix("."), !rest.dropFirst().isEmpty { rest = rest.dropFirst() }
      if rest.hasPrefix("["), let end = rest.firstIndex(of: "]"), let index = Int(rest.dropFirst()[..<end]), let list = node.sequence,
        list.indices.contains(index)
      {
        node = list[index]
        steps.append(.element(index))
        rest = rest[rest.index(after: end)...]
        continue
      }
      let members = (node.mapping ?? [:]).compactMap { key, value in key.scalar.map { (name: $0.string, value: value) } }
      // The longest matching name comes first: "39" before "3".
      let found = members.filter { member in
        guard !member.name.isEmpty, rest.hasPrefix(member.name) else { return false }
        let behind = rest.dropFirst(member.name.count)
        return behind.isEmpty || behind.hasPrefix(".") || behind.hasPrefix("[")
      }.max { $0.name.count < $1.name.count }
      guard let found else { return (steps, false) }
      rest = rest.dropFirst(found.name.count)
      node = found.value
      steps.append(.member(found.name))
    }
    return (steps, true)
  }

  /// The node to which the steps lead, or the key of a member.
  func mark(at steps: [Step], isWhole: Bool) -> Mark? {
    var (node, mark) = (root, root.mark)
    for (index, step) in steps.enumerated() {
      switch step {
      case .element(let number):
        guard let list = node.sequence, list.indices.contains(number) else { return mark }
        node = list[number]
        mark = node.mark
      case .member(let name):
        guard let member = node.mapping?.first(where: { $0.key.scalar?.string == name }) else { return mark }
        node = member.value
        mark = isWhole && index + 1 == steps.count ? node.mark : member.key.mark
      }
    }
    return mark
  }

  /// The path in the whole file.
  func original(_ place: String) -> String {
    guard !numbers.isEmpty else { return place }
    // The missing name is appended to the existing path.
    let steps = steps(to: place).found
    let rest = place.dropFirst(Self.text(steps).count)
    return Self.text(original(steps)) + rest
  }

  private func original(_ steps: [Step]) -> [Step] {
    var whole: [Step] = []
    for step in steps {
      if case .element(let number) = step, let kept = numbers[whole] {
        whole.append(.element(kept[number]))
      } else {
        whole.append(step)
      }
    }
    return whole
  }

  /// Removes the node at the end of the steps; false if that is the whole file.
  mutating func remove(_ steps: [Step]) -> Bool {
    guard let last = steps.last else { return false }
    if case .element(let number) = last {
      let list = original(Array(steps.dropLast()))
      let count = node(at: steps.dropLast())?.sequence?.count ?? 0
      var kept = numbers[list] ?? Array(0..<count)
      kept.remove(at: number)
      numbers[list] = kept
    }
    root = Self.removing(steps[...], from: root)
    return true
  }

  private func node(at steps: some Sequence<Step>) -> Node? {
    var node: Node? = root
    for step in steps {
      switch step {
      case .element(let number): node = node?.sequence.flatMap { $0.indices.contains(number) ? $0[number] : nil }
      case .member(let name): node = node?.mapping?.first { $0.key.scalar?.string == name }?.value
      }
    }
    return node
  }

  private static func removing(_ steps: ArraySlice<Step>, from node: Node) -> Node {
    guard let step = steps.first else { return node }
    switch (node, step) {
    case (.mapping(let mapping), .member(let name)):
      let members = mapping.compactMap { key, value -> (Node, Node)? in
        guard key.scalar?.string == name else { return (key, value) }
        return steps.count == 1 ? nil : (key, removing(steps.dropFirst(), from: value))
      }
      return .mapping(Node.Mapping(members, mapping.tag, mapping.style, mapping.mark))
    case (.sequence(let sequence), .element(let number)):
      let elements = sequence.enumerated().compactMap { index, element -> Node? in
        guard index == number else { return element }
        return steps.count == 1 ? nil : removing(steps.dropFirst(), from: element)
      }
      return .sequence(Node.Sequence(elements, sequence.tag, sequence.style, sequence.mark))
    default: return node
    }
  }

  static func text(_ steps: [Step]) -> String {
    steps.reduce(into: "") { text, step in
      switch step {
      case .member(let name): text += text.isEmpty ? name : "." + name
      case .element(let number): text += "[\(number)]"
      }
    }
  }
}
