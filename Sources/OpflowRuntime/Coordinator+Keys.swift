internal import OpflowEngine
internal import OpflowPlan
internal import OpflowSystem
internal import OpflowViews
internal import OpflowWire

extension Coordinator {
  /// Stands for keys; no client of the socket has this ID.
  static let keyboard = ClientID(-1)

  func watchKeys() {
    let wanted = progress.keyDescriptor
    if wanted == watchedKeys { return }
    if watchedKeys >= 0 { try? watch.remove(watchedKeys) }
    watchedKeys = -1
    guard wanted >= 0 else { return }
    do throws(Errno) {
      try watch.add(wanted, .coordinator, Place.keys)
      watchedKeys = wanted
    } catch {
      progress.giveKeysBack()
    }
  }

  func takeKeys() {
    for action in display.takeKeys() {
      let id = OrderID.new()
      guard let request = action.request(id, plan) else {
        progress.tellKey("Ctrl-C stops the run, Ctrl-Z suspends it")
        continue
      }
      let asker = OrderAsker(
        pid: ProcessID.own, user: ProcessID.ownUser, name: LiveKeys.Action.name)
      do throws(OrderRefusal) {
        let order = try request.order(of: plan, from: asker)
        keyOrders[id] = request
        progress.askByKey(request)
        tell(.order(order, from: Self.keyboard))
      } catch {
        progress.askByKey(request)
        progress.tellKey(request.outcome(.refused(what: error.what)), of: request)
      }
    }
  }

  func answerKey(_ id: OrderID, _ answer: OrderAnswer) {
    if let request = keyOrders.removeValue(forKey: id) {
      progress.tellKey(request.outcome(answer), of: request)
    }
  }
}
