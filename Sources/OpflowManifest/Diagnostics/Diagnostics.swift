final class Diagnostics {
  struct RawDiagnostic {
    var severity: Diagnostic.Severity
    var place: Place?
    var message: String
    var help: String?
    var notes: [Note] = []
    /// Shown if the error is not in a file, such as `--set NAME`.
    var origin: String?
  }

  struct Note {
    var place: Place
    var message: String
    var hasColumn = false
  }

  private(set) var all: [RawDiagnostic] = []
  private(set) var files: [SourceFile] = []
  private(set) var errorCount = 0
  private(set) var secrets: [Secret] = []
  /// Invalid YAML. Later errors there are dropped.
  private var settledPlaces: Set<Place> = []
  /// The depth of `mute` calls.
  private var muted = 0
  private var instance: Instance?
  private var spared: ((Place) -> Bool)?

  private struct Instance {
    var id: ByteView
    var place: Place
    var cells: ((Place) -> [InstanceCell])?
    var isFirst = true
    /// The places of errors in this matrix task, and in earlier ones.
    var spots: Set<Spot> = []
    var spotsBefore: Set<Spot> = []

    mutating func goOn(to id: ByteView) {
      self.id = id
      isFirst = false
      if spots.isEmpty { return }
      spotsBefore.formUnion(spots)
      spots.removeAll()
    }

    func spot(_ place: Place) -> (Spot, [InstanceCell]) {
      let cells = cells?(place) ?? []
      return (Spot(place: place, cells: cells.map(\.place)), cells)
    }
  }

  private struct Spot: Hashable {
    var place: Place
    var cells: [Place]
  }

  /// Further errors are only counted.
  private static let keptCount = 1000
  /// Messages quote names, which may be megabytes long.
  private static let longestTextBytes = 1000

  var isFull: Bool { all.count >= Self.keptCount }

  func count() { if muted == 0 { errorCount += 1 } }

  func open(displayPath: String, bytes: [UInt8]) -> SourceFile {
    let file = SourceFile(
      number: UInt32(truncatingIfNeeded: files.count), displayPath: displayPath, bytes: bytes)
    files.append(file)
    return file
  }

  /// Starts a matrix task of the matrix at `place`. Errors that earlier matrix tasks have at the
  /// same place and cells are dropped.
  ///
  /// - Parameter cells: Returns the cells that the text at a place uses. All matrix tasks use the
  ///   closure of the first one.
  func beginInstance(_ id: ByteView, of place: Place, cells: ((Place) -> [InstanceCell])?) {
    instance?.goOn(to: id)
    if instance == nil { instance = Instance(id: id, place: place, cells: cells) }
  }

  func endInstances() { instance = nil }

  func error(
    _ place: Place, _ message: @autoclosure () -> String, help: @autoclosure () -> String? = nil
  ) { add(severity: .error, place: place, message: message, help: help) }

  func warning(
    _ place: Place, _ message: @autoclosure () -> String, help: @autoclosure () -> String? = nil
  ) { add(severity: .warning, place: place, message: message, help: help) }

  /// Drops later errors at `place`.
  func settle(_ place: Place) { settledPlaces.insert(place) }

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

  func add(
    _ severity: Diagnostic.Severity, _ place: Place?, _ message: String, help: String? = nil,
    notes: [Note] = [], origin: String? = nil
  ) {
    add(
      RawDiagnostic(
        severity: severity, place: place, message: message, help: help, notes: notes, origin: origin
      ))
  }

  static func note(_ place: Place?, _ message: String) -> [Note] {
    place.map { [Note(place: $0, message: message)] } ?? []
  }

  func add(_ problem: RawDiagnostic) {
    if muted > 0 || isToldOfInstance(problem.place) || isSpared(problem.place) { return }
    var problem = problem
    problem.message = Self.cut(problem.message)
    if isTold(problem) { return }
    if problem.severity == .error { errorCount += 1 }
    guard !isFull else { return }
    if let instance {
      if let place = problem.place {
        let (spot, cells) = instance.spot(place)
        self.instance?.spots.insert(spot)
        problem.notes += cells.map {
          Note(
            place: $0.place, message: "`matrix.\($0.name.string)` is `\($0.value.string)` here",
            hasColumn: true)
        }
      }
      if !instance.isFirst {
        problem.notes.append(
          Note(place: instance.place, message: "in the matrix task `\(instance.id.string)`"))
      }
    }
    problem.help = problem.help.map(Self.cut)
    for index in problem.notes.indices {
      problem.notes[index].message = Self.cut(problem.notes[index].message)
    }
    all.append(problem)
  }

  private func isToldOfInstance(_ place: Place?) -> Bool {
    guard let instance, let place, !instance.spotsBefore.isEmpty else { return false }
    return instance.spotsBefore.contains(instance.spot(place).0)
  }

  /// Aliases and files may be read several times. With cells, equal messages may be about different
  /// cells.
  private func isTold(_ problem: RawDiagnostic) -> Bool {
    guard let place = problem.place,
      all.contains(where: { $0.place == place && $0.message == problem.message })
    else { return false }
    guard let instance, instance.cells != nil else { return true }
    return instance.spots.contains(instance.spot(place).0)
  }

  private static func cut(_ text: String) -> String {
    guard text.utf8.count > longestTextBytes else { return text }
    let beginning = String(decoding: text.utf8.prefix(longestTextBytes / 2), as: UTF8.self)
    let end = String(decoding: text.utf8.suffix(longestTextBytes / 4), as: UTF8.self)
    return beginning + " … " + end
  }

  func hide(_ secret: Secret) {
    if secrets.count < Self.keptCount { secrets.append(secret) }
  }

  func mute() { muted += 1 }
  func unmute() { muted -= 1 }

  private func add(
    severity: Diagnostic.Severity, place: Place, message: () -> String, help: () -> String?
  ) {
    if muted > 0 || settledPlaces.contains(place) || isToldOfInstance(place) || isSpared(place) {
      return
    }
    guard !isFull else {
      if severity == .error { errorCount += 1 }
      return
    }
    add(RawDiagnostic(severity: severity, place: place, message: message(), help: help()))
  }
}

/// A value from another file, such as a cell of a table.
struct InstanceCell {
  var name: ByteView
  var value: ByteView
  var place: Place
}

protocol Reporter {
  var document: YAMLDocument { get }
  var diagnostics: Diagnostics { get }
}

extension Reporter {
  func error(
    _ node: Node, _ message: @autoclosure () -> String, help: @autoclosure () -> String? = nil
  ) { diagnostics.error(document.place(node), message(), help: help()) }

  func error<Value>(
    _ node: Node, _ message: @autoclosure () -> String, help: @autoclosure () -> String? = nil
  ) -> Value? {
    diagnostics.error(document.place(node), message(), help: help())
    return nil
  }

  func warning(
    _ node: Node, _ message: @autoclosure () -> String, help: @autoclosure () -> String? = nil
  ) { diagnostics.warning(document.place(node), message(), help: help()) }
}
