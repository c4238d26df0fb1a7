// The compiled plan
// =================
//
// A plan is one file: a header, a table of sections, and the sections, each an array of records of
// one fixed size. It holds no pointers, so it is mapped and used in place by the coordinator and by
// every worker. Numbers are little-endian; every section starts at a multiple of eight bytes.
//
//   offset  size
//        0     8  magic "OPFLPLAN"
//        8     4  format version
//       12     4  number of sections
//       16     8  length of the file in bytes
//       24     8  XXH3-64 of everything from byte 64 on
//       32    16  the plan's key (worker-protocol: what a message's plan is known by)
//       48     4  number of tasks; in a plan with room of those that it had before any were added
//       52     4  zero
//       56     8  zero, or in a plan with room the place of its head
//       64        the section table: kind, record size, offset, record count (4, 4, 8, 8 bytes)
//
// Of a task, what scheduling reads of thousands in a row is a column each: its name, kind, flags,
// priority, policy, demand and fingerprint, and the graph. All else is one record (`PlanRecord`) in
// one section, read by who runs the task or shows it: a key of a task that is not scheduled by is a
// field there and nothing else here.
//
// Texts stand once in one arena of bytes and are referred to by offset and length. Lists (words of a
// command, shells, tags, environments, demands) are runs of records, found through a column of
// offsets with one more entry than there are lists. List 0 of each kind is the empty one. Every
// number of a task, text, list or record counts within the file it stands in, and nothing in a file
// depends on what is outside of it.
//
// A plan that grows has room behind each of its sections, so that a segment's tasks are written where
// they belong and a number once given stays what it is. It has two heads, one of which counts: an
// XXH3-64 of what follows in it, the number of tasks (8 bytes each) and a section table. What is
// written for more tasks is written behind the counts of that head, then into the other one, then the
// place in the header says which counts. Whoever has opened the file sees as much as was there then:
// what is changed in place, a name's slot and the end of a chain of needs, leads beyond what they know,
// and is passed over. No checksum covers what grows; that of the header is zero.
//
// A segment by itself is a plan whose tasks need tasks of others as well, by their names
// (`outerNeeds`). Once it is part of a plan these needs are rows of `needTargets` as all others, behind
// those of its own segment; seen from the other end they are not in the rows of dependents, which stay
// as they are, but in chains (`outerEdges`).
//
// The version is raised by every change of the layout, of the sections or of what a field means. There
// is one reader, for one version: a resume that finds another compiles the manifest anew.
//
//   1    the first
//   2    downloads; what expressions read of the environment
//   3    amounts of the manifest's own resources in thousandths
//   4    one record of a task for what it is not scheduled by; its place is gone
//   5    secrets
//   6    families, and the patterns that legs are made of
//   7    the condition `ran`; tasks that are `manual`
//   8    what is evaluated when a task starts
//   9    folders of what a task's needs left
//   10   tasks that are `interactive`
//   11   how many runs are kept
//   12   groups of runs of which one is live at a time
//   13   tasks that may steer their run
//   14   tasks that a person ends
//   15   where tasks stand
//   16   what tasks declare to read and to leave
//   18   services
//   19   tasks with a jobserver; limits of memory
//   20   what runs on the coordinator's machine
//   21   segments, and plans with room for them
//   22   what services are by themselves
//   23   tasks that make the legs of families
//   24   tasks that programs do which offer them
//   25   what tasks say in texts, as one list for each of these
//   26   tasks that remove what they left before they start
//   27   environments as a list that tasks share and one of their own

package enum PlanFormat {
  package static let magic: [UInt8] = Array("OPFLPLAN".utf8)
  package static let version: UInt32 = 27
  static let headerBytes = 64
  static let sectionEntryBytes = 24
  /// Where the header has the plan's key.
  static let keyPlace = 32
  /// Where the header has the place of the head.
  static let headPlace = 56
  /// A checksum, a number of tasks, and the section table.
  static let headBytes = 16 + PlanSection.allCases.count * sectionEntryBytes
  /// More lines than a file may have.
  package static let lineLimit: UInt32 = 1 << 30
}

/// What a section of a plan file holds. The raw value is what stands in the file.
package enum PlanSection: UInt32, CaseIterable, Sendable {
  case arena = 0
  case taskName, taskKind, taskFlags, taskPriority, taskPolicy, taskDemand, taskFingerprint
  case taskRecord
  case needOffsets, needTargets, needConditions
  case dependentOffsets, dependentTargets, dependentConditions
  case topologicalOrder
  case nameTable
  case listOffsets, listItems
  case environmentOffsets, environmentItems, environments
  case demandOffsets, demandItems
  case codeOffsets, codeItems
  case policies, resources, files, environmentNames
  case manifest
  case downloads
  case secrets
  case globs
  case families, familyValues
  case lateOffsets, lateItems
  case stepOffsets, stepItems
  case declarations, declaredOffsets, declaredItems
  case services
  case outerNeeds
  case outerEdges, firstOuterEdge, lastOuterEdge
}
