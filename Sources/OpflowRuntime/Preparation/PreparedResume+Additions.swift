internal import OpflowEngine
internal import OpflowJournal
internal import OpflowPlan
internal import OpflowWorker

/// Additions by tasks of the run that run again and add them again.
extension PreparedResume {
  /// A task of the last plan is left out because the task that added it runs again.
  package func addsAnew(_ name: String) -> Bool { found.addsAnew(name) }

  func additionsToRemake(_ asked: RunRequest) -> AdditionsToRemake {
    AdditionsToRemake(of: plan, found.additions, history, decision) { tasks in
      foresight(of: tasks, asked)
    }
  }

  /// Checks the files of tasks, and of their dependencies, as the session would.
  private func foresight(
    of tasks: Set<TaskID>, _ asked: RunRequest
  ) -> (TaskID) -> AdditionsToRemake.Foresight {
    // Without records of earlier successes, no prediction is possible.
    guard let look = try? PlanLook(plan, state: statePath, cache: asked.cache) else {
      return { _ in .unknown }
    }
    var wanted = TaskSet(taskCount: plan.taskCount)
    for task in tasks { wanted.insert(task) }
    wanted.addNeeds(of: plan)
    let forecast = RunForecast(
      plan: plan, options: SchedulerOptions(asked, plan, history.openness), entering: entering
    ) { check, before in
      wanted.contains(check.task) ? look.foresee(check, before) : .unsure
    }
    let starts = Set(forecast.starts)
    return { task in
      if forecast.files.unsure[task] != nil { return .unknown }
      return starts.contains(task) ? .starts : .staysDone
    }
  }
}
