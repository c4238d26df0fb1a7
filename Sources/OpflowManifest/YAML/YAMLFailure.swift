internal import CYAML

/// Why a file cannot be read.
struct YAMLFailure: Error {
  enum Reason: Equatable {
    /// The file has only whitespace and comments.
    case empty
    /// - Parameter beginning: The start of the construct that libyaml was reading.
    case syntax(problem: String, context: String, beginning: Int?)
    case notUTF8
    /// A code point that YAML forbids.
    case forbiddenCharacter(UInt32)
    case secondDocument
    case tooDeep, tooExpanded, tooManyRecords, tooLong, tooManyDirectives, longDirective
    case outOfMemory
  }

  let reason: Reason
  /// The offset where the reader stopped.
  let offset: Int

  static let mostLevels = CYAML_MAX_DEPTH

  /// Whether more input could not change the failure.
  var isFinal: Bool {
    switch reason {
    case .tooDeep, .tooExpanded, .tooLong, .tooManyDirectives, .longDirective: true
    case .empty, .syntax, .notUTF8, .forbiddenCharacter, .secondDocument, .tooManyRecords,
      .outOfMemory:
      false
    }
  }

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

/// An error that does not stop the reader.
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
