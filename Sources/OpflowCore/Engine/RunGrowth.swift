/// Tasks added to a live run. The plan already has them, after its older tasks.
///
/// States and races
/// ----------------
///
///     asked ─► grown ─► journaled ─► answered
///       └► refused
///
/// - *asked*: the caller has the segment and asks the engine whether it may be added
///   (`Engine.answer(toExtension:)`). A crash here has added nothing.
/// - *grown*: the plan file has the tasks. A reader counts only the tasks that the journal names,
///   so a crash here has added nothing either; the file merely has an unused end. No other fact
///   comes between the engine's permission and this one: a stop request comes after it.
/// - *journaled*: the `extend` line exists. From here on a resume has the tasks, from the copy of
///   their source. They may be ready at once, but no command about them is sent before the line is
///   written.
/// - *answered*: the line is written. A requester that got no answer asks again with the same ID,
///   or looks into the journal.
///
/// New tasks enter as if they had been there from the start: a dependency that succeeded is met,
/// one that failed skips them. A service that ended because no task needed it is reopened, as for a
/// retry.
package struct RunGrowth: Sendable, Equatable {
  /// The plan with the new tasks.
  package var plan: Plan
  package var entry: ExtendEntry
  /// The initial states, one per new task.
  package var initial: [InitialState]
  /// The requester, which is answered once the line is journaled.
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
