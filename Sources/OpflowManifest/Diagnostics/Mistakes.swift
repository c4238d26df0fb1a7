/// Collects what is wrong with a manifest's files, in whatever order it is found.
final class Mistakes {
  /// One thing that is wrong, and where.
  struct Mistake {
    var severity: Diagnostic.Severity
    var place: Place?
    var message: String
    var help: String?
    /// Further places that belong to it, in order.
    var notes: [Note] = []
    /// What stands for the file where the mistake is in none, such as `--set NAME`.
    var origin: String?
  }

  /// A further place that belongs to a mistake.
  struct Note {
    var place: Place
    var message: String
    /// Whether its column is told as well.
    var hasColumn = false
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
  /// Where nothing is reported on.
  private var spared: ((Place) -> Bool)?

  /// One of the many tasks that are read from one place.
  private struct Leg {
    var id: Text
    /// Where the family is declared.
    var place: Place
    /// What of the leg stands in files and is in the text at a place.
    var cells: ((Place) -> [LegCell])?
    var isFirst = true
    /// What there are mistakes in: in this leg, and in those before it.
    var spots: Set<Spot> = []
    var spotsBefore: Set<Spot> = []

    mutating func goOn(to id: Text) {
      self.id = id
      isFirst = false
      if spots.isEmpty { return }
      spotsBefore.formUnion(spots)
      spots.removeAll()
    }

    func spot(_ place: Place) -> (Spot, [LegCell]) {
      let cells = cells?(place) ?? []
      return (Spot(place: place, cells: cells.map(\.place)), cells)
    }
  }

  /// A text, and the cells that it is made of.
  private struct Spot: Hashable {
    var place: Place
    var cells: [Place]
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
  /// earlier leg has at the same place, made of the same cells, is not told again.
  ///
  /// - Parameter cells: asked from the family's first leg to its last: what of the leg stands in files,
  ///   and is in the text at a place.
  func beginLeg(_ id: Text, of place: Place, cells: ((Place) -> [LegCell])?) {
    leg?.goOn(to: id)
    if leg == nil { leg = Leg(id: id, place: place, cells: cells) }
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

  /// Reports nothing of some places while `body` runs.
  func sparing(_ places: @escaping (Place) -> Bool, _ body: () -> Void) {
    spared = places
    body()
    spared = nil
  }

  func sparingNothing(_ body: () -> Void) {
    let places = spared
    spared = nil
    body()
    spared = places
  }

  private func isSpared(_ place: Place?) -> Bool {
    guard let spared, let place else { return false }
    return spared(place)
  }

  func add(_ mistake: Mistake) {
    if muted > 0 || isToldOfLeg(mistake.place) || isSpared(mistake.place) { return }
    var mistake = mistake
    mistake.message = Self.cut(mistake.message)
    if isTold(mistake) { return }
    if mistake.severity == .error { errorCount += 1 }
    guard !isFull else { return }
    if let leg {
      if let place = mistake.place {
        let (spot, cells) = leg.spot(place)
        self.leg?.spots.insert(spot)
        mistake.notes += cells.map {
          Note(
            place: $0.place, message: "`matrix.\($0.name.string)` is `\($0.value.string)` here",
            hasColumn: true)
        }
      }
      if !leg.isFirst {
        mistake.notes.append(Note(place: leg.place, message: "so it is in `\(leg.id.string)`"))
      }
    }
    mistake.help = mistake.help.map(Self.cut)
    for index in mistake.notes.indices {
      mistake.notes[index].message = Self.cut(mistake.notes[index].message)
    }
    all.append(mistake)
  }

  private func isToldOfLeg(_ place: Place?) -> Bool {
    guard let leg, let place, !leg.spotsBefore.isEmpty else { return false }
    return leg.spotsBefore.contains(leg.spot(place).0)
  }

  /// Whether it was told before: what an anchor holds is read once for each alias to it, and a file by
  /// each that names it. Two cells may be wrong alike.
  private func isTold(_ mistake: Mistake) -> Bool {
    guard let place = mistake.place,
      all.contains(where: { $0.place == place && $0.message == mistake.message })
    else { return false }
    guard let leg, leg.cells != nil else { return true }
    return leg.spots.contains(leg.spot(place).0)
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
    if muted > 0 || settledPlaces.contains(place) || isToldOfLeg(place) || isSpared(place) {
      return
    }
    guard !isFull else {
      if severity == .error { errorCount += 1 }
      return
    }
    add(Mistake(severity: severity, place: place, message: message(), help: help()))
  }
}
