/// Collects what is wrong with a manifest's files, in whatever order it is found.
final class Mistakes {
  /// One thing that is wrong, and where.
  struct Mistake {
    var severity: Diagnostic.Severity
    var place: Place?
    var message: String
    var help: String?
    /// Further places that belong to it, in order.
    var notes: [(place: Place, message: String)] = []
    /// What stands for the file where the mistake is in none, such as `--set NAME`.
    var origin: String?
  }

  private(set) var all: [Mistake] = []
  /// The files that places are in, by number.
  private(set) var files: [SourceFile] = []
  private(set) var errorCount = 0
  /// Where values begin that are in no diagnostic.
  private(set) var secrets: [Secret] = []
  /// Places of nodes that are wrong as YAML: nothing more is said of what they hold.
  private var settledPlaces: Set<Place> = []
  /// Levels of code that reads a second time what it reported on before.
  private var muted = 0
  /// The leg that is read, where one is.
  private var leg: Leg?

  /// One of the many tasks that are read from one place.
  private struct Leg {
    var id: Text
    /// Where the family is declared.
    var place: Place
    var isFirst = true
    /// Where there are mistakes in this leg, and in those before it.
    var places: Set<Place> = []
    var placesBefore: Set<Place> = []

    mutating func goOn(to id: Text) {
      self.id = id
      isFirst = false
      if places.isEmpty { return }
      placesBefore.formUnion(places)
      places.removeAll()
    }
  }

  /// Beyond this, mistakes are counted only.
  private static let keptCount = 1000
  /// Of a text that quotes the manifest, whose names may be megabytes long.
  private static let longestTextBytes = 1000

  /// Whether further mistakes are only counted: what it takes to describe them can be spared.
  var isFull: Bool { all.count >= Self.keptCount }

  /// Counts one more mistake; for when all that are kept are there.
  func count() { if muted == 0 { errorCount += 1 } }

  /// Adds a file, so that mistakes can be in it.
  func open(displayPath: String, bytes: [UInt8]) -> SourceFile {
    let file = SourceFile(
      number: UInt32(truncatingIfNeeded: files.count), displayPath: displayPath, bytes: bytes)
    files.append(file)
    return file
  }

  /// From now on mistakes are about that leg of the family that is declared at `place`: one that an
  /// earlier leg has at the same place is not told again.
  func beginLeg(_ id: Text, of place: Place) {
    leg?.goOn(to: id)
    if leg == nil { leg = Leg(id: id, place: place) }
  }

  /// Ends the last leg of a family.
  func endLegs() { leg = nil }

  func error(
    _ place: Place, _ message: @autoclosure () -> String,
    help: @autoclosure () -> String? = nil
  ) {
    add(severity: .error, place: place, message: message, help: help)
  }

  func warning(
    _ place: Place, _ message: @autoclosure () -> String,
    help: @autoclosure () -> String? = nil
  ) {
    add(severity: .warning, place: place, message: message, help: help)
  }

  /// Lets the mistake that was reported be the last one at `place`.
  func settle(_ place: Place) { settledPlaces.insert(place) }

  func add(_ mistake: Mistake) {
    if muted > 0 || isToldOfLeg(mistake.place) { return }
    if mistake.severity == .error { errorCount += 1 }
    guard !isFull else { return }
    var mistake = mistake
    if let leg {
      if let place = mistake.place { self.leg?.places.insert(place) }
      if !leg.isFirst {
        mistake.notes.append((leg.place, "so it is in `\(leg.id.string)`"))
      }
    }
    mistake.message = Self.cut(mistake.message)
    mistake.help = mistake.help.map(Self.cut)
    mistake.notes = mistake.notes.map { ($0.place, Self.cut($0.message)) }
    all.append(mistake)
  }

  private func isToldOfLeg(_ place: Place?) -> Bool {
    guard let leg, let place else { return false }
    return leg.placesBefore.contains(place)
  }

  /// The beginning and the end of a text that is too long.
  private static func cut(_ text: String) -> String {
    guard text.utf8.count > longestTextBytes else { return text }
    let beginning = String(decoding: text.utf8.prefix(longestTextBytes / 2), as: UTF8.self)
    let end = String(decoding: text.utf8.suffix(longestTextBytes / 4), as: UTF8.self)
    return beginning + " … " + end
  }

  /// Has no diagnostic show that value, whichever it is that is about its line.
  func hide(_ secret: Secret) {
    if secrets.count < Self.keptCount { secrets.append(secret) }
  }

  /// Nothing is reported until `unmute`.
  func mute() { muted += 1 }
  func unmute() { muted -= 1 }

  private func add(
    severity: Diagnostic.Severity, place: Place, message: () -> String, help: () -> String?
  ) {
    if muted > 0 || settledPlaces.contains(place) || isToldOfLeg(place) { return }
    guard !isFull else {
      if severity == .error { errorCount += 1 }
      return
    }
    let message = Self.cut(message())
    // What an anchor holds is read once for each alias to it.
    if all.contains(where: { $0.place == place && $0.message == message }) { return }
    add(Mistake(severity: severity, place: place, message: message, help: help()))
  }
}
