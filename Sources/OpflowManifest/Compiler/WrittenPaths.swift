internal import OpflowCore

/// The files that tasks say they write, by absolute path.
struct WrittenPaths {
  private var paths = TextTable()
  private var places: [Int] = []

  /// Adds a path, which must live as long as this. The place of the task that writes it already,
  /// where there is one.
  mutating func insert(_ path: Text, place: Int) -> Int? {
    let (index, isNew) = paths.insert(path)
    if !isNew { return places[index] }
    places.append(place)
    return nil
  }
}

extension ManifestReader {
  /// Notes that the task whose turn it is writes `path`, from `directory` on.
  mutating func noteWritten(_ path: Scalar, in directory: Directory) {
    let absolute = PathText.absolute(path.text, from: directory.path, store: scope.store)
    let place = document.place(path.node)
    guard let first = writtenPaths.insert(absolute, place: place) else { return }
    mistakes.add(
      Mistakes.Mistake(
        severity: .error, place: place, message: "`\(path.text.string)` is written twice",
        help: "two writers of one file destroy each other's work; let one task write it",
        notes: [(first, "the first one")]))
  }
}
