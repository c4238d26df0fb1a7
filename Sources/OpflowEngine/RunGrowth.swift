package import OpflowJournal
package import OpflowPlan

/// Tasks added to a live run. The plan already has them, after its older tasks.
///
///     asked ─► grown ─► journaled ─► answered
///       └► refused
///
/// - *asked*: may the segment be added (`Engine.answer(toExtension:)`)? A crash here has added
///   nothing.
/// - *grown*: the plan file has the tasks. Readers count only tasks that the journal names, so
///   after a crash the end of the file is unused. No fact comes between the permission and this
///   one.
/// - *journaled*: the `extend` line exists. A resume has the tasks, from the copy of their source.
///   They may be ready at once, but no command about them is sent before the line is written.
/// - *answered*: the line is written. A requester without an answer asks again with the same ID, or
///   looks into the journal.
///
/// Dependencies that have succeeded are met; those that have failed skip the task. A service that
/// ended unneeded is reopened.
package struct RunGrowth: Sendable, Equatable {
  /// With the new tasks.
  package var plan: Plan
  package var entry: ExtendEntry
  /// One per new task.
  package var initial: [InitialState]
  /// Answered once the line is journaled.
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
