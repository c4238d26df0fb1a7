internal import OpflowCore

/// A value of a file that no diagnostic may show, by the place where it begins.
struct Secret {
  enum Extent {
    /// An address with a password in it, which may be written wrongly: up to its last `@`, or to the
    /// line's end where there is none. Nil for an end that is not known, because its text is not
    /// written as it is read.
    case credentials(end: Int?)
    /// To the end of its line.
    case rest
  }

  var place: Place
  var extent: Extent
}

/// A line of a file, or what is near a place in it.
struct SourceLine {
  let text: Text
  /// Where it begins in the file.
  let start: Int

  /// The line as it may be shown, and how many of its characters then stand before `place`.
  ///
  /// - Parameter secrets: of its file.
  func shown(_ place: Int, hiding secrets: [Secret]) -> (text: String, before: Int) {
    let place = min(max(0, place - start), text.count)
    var line = ""
    var before: Int?
    var end = 0
    for range in hidden(secrets) {
      if before == nil, place < range.upperBound {
        let seen = text.part(end..<max(end, min(place, range.lowerBound)))
        before = line.unicodeScalars.count + SourceText.characterCount(of: seen)
      }
      line += text.part(end..<range.lowerBound).string + Credentials.mark
      end = range.upperBound
    }
    let seen = text.part(end..<max(end, place))
    let count = before ?? line.unicodeScalars.count + SourceText.characterCount(of: seen)
    return Self.near(count, in: line + text.part(end..<text.count).string)
  }

  /// What of a line is kept: as much on each side of a place as may be shown.
  private static func near(_ place: Int, in line: String) -> (text: String, before: Int) {
    let characters = line.unicodeScalars
    let start = max(0, place - keptCharacters)
    let kept = characters.dropFirst(start).prefix(place - start + keptCharacters)
    return (String(kept), place - start)
  }

  /// On each side of a place.
  private static let keptCharacters = 400

  /// What is not to be seen, in its order and apart from each other.
  private func hidden(_ secrets: [Secret]) -> [Range<Int>] {
    let found =
      Credentials.ranges(in: text) + secrets.compactMap { range(of: $0) }
    var ranges: [Range<Int>] = []
    for range in found.sorted(by: { $0.lowerBound < $1.lowerBound }) {
      if let last = ranges.last, range.lowerBound <= last.upperBound {
        ranges[ranges.count - 1] = last.lowerBound..<max(last.upperBound, range.upperBound)
      } else {
        ranges.append(range)
      }
    }
    return ranges
  }

  private func range(of secret: Secret) -> Range<Int>? {
    let from = secret.place.offset - start
    guard from >= 0, from < text.count else { return nil }
    switch secret.extent {
    case .rest: return from..<text.count
    case .credentials(let end):
      let end = min(text.count, max(from, (end ?? .max) - start))
      let value = text.part(from..<end)
      let at = value.lastIndex(of: UInt8(ascii: "@")).map { from + $0 } ?? text.count
      let scheme = value.firstIndex(of: UInt8(ascii: "/")).map { from + $0 } ?? at
      // What the address begins with helps to find the mistake in it, and is no secret.
      let isScheme =
        scheme > from && scheme + 1 < at && text[scheme - 1] == UInt8(ascii: ":")
        && text[scheme + 1] == UInt8(ascii: "/")
      return (isScheme ? scheme + 2 : from)..<max(at, from)
    }
  }
}
