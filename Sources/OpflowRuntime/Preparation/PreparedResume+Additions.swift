internal import OpflowCore
internal import OpflowWorker

/// What tasks of the run added to it and are to add anew.
extension PreparedResume {
  /// Whether a task of the run's last plan is left out, since what added it runs again.
  package func addsAnew(_ name: String) -> Bool { found.addsAnew(name) }

  func additionsToRemake(_ asked: RunRequest) -> AdditionsToRemake {
    AdditionsToRemake(of: plan, found.additions, history, decision) { tasks in
      foresight(of: tasks, asked)
    }
  }

  /// Looks now at the files of tasks, and of what runs before them, as the drive would.
  private func foresight(
    of tasks: Set<TaskID>, _ asked: RunRequest
  ) -> (TaskID) -> AdditionsToRemake.Foresight {
    // Without what is known of earlier successes nothing can be told.
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
