internal import OpflowBase
internal import OpflowPlan

enum PriorityName {
  static func value(_ text: ByteView) -> Int16? {
    if let number = CoreSchema.integer(text) {
      return KeyBounds.priority.contains(number) ? Int16(number) : nil
    }
    return PriorityLevels.all.first { text == $0.word }?.value
  }

  static func help(for text: ByteView) -> String? {
    let meant: [(words: [StaticString], help: StaticString)] = [
      (
        ["urgent", "critical", "highest", "important", "max", "top", "first", "realtime"],
        "write `very_high`"
      ),
      (["medium", "default", "middle", "standard", "none"], "write `normal`, or leave it out"),
      (["lowest", "idle", "background", "min", "last"], "write `very_low`"),
    ]
    return meant.first { $0.words.contains { text == $0 } }?.help.description
  }

  static let known: StaticString =
    "very_low, low, normal, high, very_high or a number from -1000 to 1000"
}

extension NeedCondition {
  init?(text: ByteView) {
    if text == "success" {
      self = .success
    } else if text == "failure" {
      self = .failure
    } else if text == "finished" {
      self = .finished
    } else if text == "ran" {
      self = .ran
    } else {
      return nil
    }
  }

  static func help(for text: ByteView) -> String? {
    let meant: [(words: [StaticString], help: StaticString)] = [
      (
        ["always", "any", "all", "completed", "complete", "done", "end", "ended", "exited"],
        "`finished` accepts any result"
      ),
      (
        ["failed", "fail", "fails", "error", "errored", "failing"],
        "`failure` accepts a failure that `allow_failure` does not allow"
      ),
      (
        [
          "succeeded", "ok", "passed", "successful", "on_success", "service_completed_successfully",
        ], "`success` is the default"
      ),
      (["executed", "run"], "`ran` accepts a success, but not a skipped task"),
    ]
    return meant.first { $0.words.contains { text == $0 } }?.help.description
  }
}

/// Hashes for fingerprints.
enum Digest {
  static func pair(_ first: ByteView, _ second: ByteView) -> UInt64 {
    Hash.combine(Hash.xxh3(first), Hash.xxh3(second))
  }

  /// The caller adds up the hashes.
  static func need(_ name: ByteView, _ condition: NeedCondition) -> UInt64 {
    Hash.combine(Hash.xxh3(name), UInt64(condition.rawValue))
  }

  static func list(_ texts: some Sequence<ByteView>) -> UInt64 {
    texts.reduce(0) { Hash.combine($0, Hash.xxh3($1)) }
  }
}
