/// Tasks that were added to a run that goes on: its plan has them already, behind those that it had.
///
/// States and races
/// ----------------
///
///     asked ─► grown ─► journaled ─► answered
///       └► refused
///
/// - *asked*: the host has the segment, and asks the engine whether it may be added (`Engine.answer(toExtension:)`). Nothing
///   has changed; who dies here has added nothing.
/// - *grown*: the plan's file has the tasks. Who opens it counts the tasks that the journal tells of, so that a host that
///   dies here has added nothing either, but for a file of which nobody sees the end. Between the engine's word that it may be
///   and this fact no other one comes: a run that stops meanwhile stops after it.
/// - *journaled*: the `extend` line is there. From here on a resume has the tasks, from the copy of their source. They
///   may be ready at once; no order about them leaves before the line is written, as for all that follows from a line.
/// - *answered*: when the line is written. Who asked and was told nothing asks again by the same id, or finds it in the journal.
///
/// What tasks of the run have by then decides for the new ones as if they had been there from the beginning: a need that
/// succeeded is met, one that failed has them skipped. A service that ended since nothing needed it any more
/// is taken out of its end, as for a retry.
package struct RunGrowth: Sendable, Equatable {
  /// The plan with the new tasks.
  package var plan: Plan
  package var entry: ExtendEntry
  /// How the new tasks enter, one entry each.
  package var initial: [InitialState]
  /// Who is told when that is journaled.
  package var client: ClientID

  package init(plan: Plan, entry: ExtendEntry, initial: [InitialState], client: ClientID) {
    self.plan = plan
    self.entry = entry
    self.initial = initial
    self.client = client
  }

  package static func == (one: RunGrowth, other: RunGrowth) -> Bool {
    one.plan === other.plan && one.entry == other.entry && one.initial == other.initial
      && one.client == other.client
  }
}
