/// One thing that may be answered, its message not chosen yet.
public struct RetentionOption: Sendable, Hashable {
  public let message: RetentionMessageChoice
  public let content: RetentionProposal.Content

  public init(message: RetentionMessageChoice, _ content: RetentionProposal.Content) throws(RequestRefusal) {
    self.message = message
    self.content = try RetentionProposal.checked(content)
  }
}

/// When what is answered. The options are tried in their order: the next one is for when a message is not approved or a signature is not to
/// be had in time.
public struct RetentionRule: Sendable, Hashable {
  public let name: String
  public let conditions: RetentionConditions
  /// None: the App Store shows the default message.
  public let options: [RetentionOption]

  public init(name: String, conditions: RetentionConditions, options: [RetentionOption]) {
    self.name = name
    self.conditions = conditions
    self.options = options
  }
}

/// An app's rules: the first that applies decides.
public struct RetentionRuleSet: Sendable, Hashable {
  public let rules: [RetentionRule]

  public init(_ rules: [RetentionRule]) { self.rules = rules }

  /// What the rules say.
  public struct Match: Sendable, Hashable {
    /// Nil where none applies.
    public let rule: RetentionRule?
    /// Rules before it that would perhaps apply: what they ask of the history was not known.
    public let undecided: [String]
  }

  /// Pure: the same request and facts at the same time match the same rule.
  ///
  /// - Parameters:
  ///   - facts: nil where the history is not known. A rule that asks for it does not apply then.
  ///   - now: milliseconds since 1970.
  public func match(_ request: RealtimeRequest, _ facts: RetentionFacts?, at now: Int64) -> Match {
    var undecided: [String] = []
    for rule in rules {
      switch rule.conditions.judge(request, facts, at: now) {
      case .yes: return Match(rule: rule, undecided: undecided)
      case .unknown: undecided.append(rule.name)
      case .no: continue
      }
    }
    return Match(rule: nil, undecided: undecided)
  }

  /// Places of the request's customer in the experiments of the rules, by their names.
  public func experiments(of request: RealtimeRequest) -> [String: Int] {
    var places: [String: Int] = [:]
    for rule in rules {
      guard let name = rule.conditions.experiment?.experiment else { continue }
      places[name] = ExperimentShare.bucket(of: request.originalTransactionId, in: name)
    }
    return places
  }
}

extension RetentionRule {
  /// What may be answered, in the order to be tried, and the messages that may not be shown.
  public func proposals(
    for request: RealtimeRequest, approved: (String) -> Bool
  ) -> (usable: [RetentionProposal], unapproved: [String]) {
    var (usable, unapproved): ([RetentionProposal], [String]) = ([], [])
    for option in options {
      guard let id = option.message.identifier(for: request.locale) else { continue }
      if approved(id) {
        usable.append(RetentionProposal(known: id, option.content))
      } else if !unapproved.contains(id) {
        unapproved.append(id)
      }
    }
    return (usable, unapproved)
  }
}
