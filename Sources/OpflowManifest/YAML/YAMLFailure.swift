internal import CYAML

/// Why a file is no YAML document.
struct YAMLFailure: Error {
  enum Reason: Equatable {
    /// Nothing but blanks and comments.
    case empty
    /// libyaml's words.
    ///
    /// - Parameter beginning: where the construct began that it was reading; nil when it does not say.
    case syntax(problem: String, context: String, beginning: Int?)
    case notUTF8
    /// A character that YAML forbids, by its number.
    case forbiddenCharacter(UInt32)
    case secondDocument
    case tooDeep, tooExpanded, tooManyRecords, tooLong, tooManyDirectives, longDirective
    case outOfMemory
  }

  let reason: Reason
  /// Where reading ended.
  let offset: Int

  /// Levels of nesting.
  static let mostLevels = CYAML_MAX_DEPTH

  /// Whether it is one of the bounds within which a document is read, which more bytes behind these do
  /// not change.
  var isFinal: Bool {
    switch reason {
    case .tooDeep, .tooExpanded, .tooLong, .tooManyDirectives, .longDirective: true
    case .empty, .syntax, .notUTF8, .forbiddenCharacter, .secondDocument, .tooManyRecords,
      .outOfMemory:
      false
    }
  }

  /// Nil for a document that was read.
  init?(_ document: cyaml_document, of source: Text) {
    offset = document.place
    switch document.status {
    case Int32(CYAML_OK): return nil
    case Int32(CYAML_EMPTY): reason = .empty
    case Int32(CYAML_SYNTAX):
      reason = .syntax(
        problem: document.problem.map { String(cString: $0) } ?? "not valid YAML",
        context: document.context.map { String(cString: $0) } ?? "",
        beginning: document.context_place < source.count ? document.context_place : nil)
    case Int32(CYAML_NOT_UTF8): reason = .notUTF8
    case Int32(CYAML_FORBIDDEN_CHARACTER): reason = .forbiddenCharacter(document.character)
    case Int32(CYAML_SECOND_DOCUMENT): reason = .secondDocument
    case Int32(CYAML_TOO_DEEP): reason = .tooDeep
    case Int32(CYAML_TOO_EXPANDED): reason = .tooExpanded
    case Int32(CYAML_TOO_MANY_RECORDS): reason = .tooManyRecords
    case Int32(CYAML_TOO_LONG): reason = .tooLong
    case Int32(CYAML_TOO_MANY_DIRECTIVES): reason = .tooManyDirectives
    case Int32(CYAML_LONG_DIRECTIVE): reason = .longDirective
    default: reason = .outOfMemory
    }
  }
}

/// What is wrong with a document that is readable all the same.
struct YAMLProblem: Equatable {
  enum Kind: Equatable {
    case unknownAlias, recursiveAlias, unknownTag, nulInText
  }

  let kind: Kind
  let offset: Int

  init(_ problem: cyaml_problem) {
    offset = Int(problem.start)
    switch Int(problem.kind) {
    case CYAML_UNKNOWN_ALIAS: kind = .unknownAlias
    case CYAML_RECURSIVE_ALIAS: kind = .recursiveAlias
    case CYAML_UNKNOWN_TAG: kind = .unknownTag
    default: kind = .nulInText
    }
  }
}
