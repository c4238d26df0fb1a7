internal import OpflowBase

/// A matrix. Its matrix tasks are consecutive.
package struct FamilyEntry: Hashable, Sendable, BitwiseCopyable {
  package var name: TextRef
  package var firstTask: Int32
  package var legCount: Int32
  /// Never the empty list.
  package var axes: ListIndex
  /// In `familyValues`: one value per axis, matrix task by matrix task.
  package var firstValue: UInt32

  package init(
    name: TextRef, firstTask: Int32, legCount: Int32, axes: ListIndex, firstValue: UInt32
  ) {
    self.name = name
    self.firstTask = firstTask
    self.legCount = legCount
    self.axes = axes
    self.firstValue = firstValue
  }
}

package struct GlobEntry: Hashable, Sendable, BitwiseCopyable {
  package var pattern: TextRef
  package var folder: TextRef
}

package struct FamilyID: Hashable, Sendable, Comparable {
  package let index: Int
  package init(_ index: Int) { self.index = index }
  package static func < (a: FamilyID, b: FamilyID) -> Bool { a.index < b.index }
}

extension Plan {
  package func familyName(_ family: FamilyID) -> String { string(families[family.index].name) }

  /// For a generator that found nothing to generate.
  package static let emptyMatrixText = "empty matrix: it has no legs"

  package func legs(_ family: FamilyID) -> Range<Int> {
    let entry = families[family.index]
    return Int(entry.firstTask)..<(Int(entry.firstTask) + Int(entry.legCount))
  }

  package func family(of task: TaskID) -> FamilyID? {
    let next = families.partitioningIndex { $0.firstTask > task.rawValue }
    guard next > 0, legs(FamilyID(next - 1)).contains(task.index) else { return nil }
    return FamilyID(next - 1)
  }

  package func family(named name: UnsafeRawBufferPointer) -> FamilyID? {
    families.firstIndex { text($0.name).equals(name) }.map { FamilyID($0) }
  }

  package func axes(_ family: FamilyID) -> Column<TextRef> { list(families[family.index].axes) }

  package func legValues(_ task: TaskID, of family: FamilyID) -> Column<TextRef> {
    let entry = families[family.index]
    let count = list(entry.axes).count
    let first = Int(entry.firstValue) + (task.index - Int(entry.firstTask)) * count
    return familyValues[first..<(first + count)]
  }

  /// In task order; a matrix counts as one name.
  package var foldedNames: some Sequence<String> {
    var next = 0
    return AnyIterator {
      guard next < self.taskCount else { return nil }
      let task = TaskID(next)
      guard let family = self.family(of: task) else {
        next += 1
        return self.nameString(task)
      }
      next = self.legs(family).upperBound
      return self.familyName(family)
    }
  }

  /// Matrices are in task order, disjoint, and have a value per axis.
  func validateFamilies() throws(PlanError) {
    var nextTask = 0
    for entry in families {
      guard isSound(entry.name), entry.name.length > 0, Int(entry.firstTask) >= nextTask,
        entry.legCount > 0, Int(entry.legCount) <= taskCount - Int(entry.firstTask),
        entry.axes != 0, Int(entry.axes) + 1 < listOffsets.count
      else { throw .reference(.families) }
      nextTask = Int(entry.firstTask) + Int(entry.legCount)
      let count = list(entry.axes).count * Int(entry.legCount)
      guard Int(entry.firstValue) + count <= familyValues.count else {
        throw .reference(.familyValues)
      }
    }
    for value in familyValues where !isSound(value) { throw .reference(.familyValues) }
    for glob in globs where !(isSound(glob.pattern) && isSound(glob.folder)) {
      throw .reference(.globs)
    }
  }
}
