package podrace

import (
	"fmt"

	v1 "k8s.io/api/core/v1"
)

var (
	cycleEnds  = points("NextPod>")
	bindingVia = points("Framework.RunPreBindPreFlights< P", "Framework.WillWaitOnPermit< P", "Framework.WaitOnPermit< P", "Queue.Done< P", "Framework.RunPreBindPlugins< P")
	// givesBack is where Unreserve begins, for a pod with claims, or is through.
	givesBack = points("Framework.RunReservePluginsUnreserve> P", "Cache.ForgetPod> P", "Claims.MaybeRemoveClaimPendingAllocation>", "Claims.RemoveClaimPendingAllocation>", "Volumes.RevertAssumedPodVolumes>")
	// throughVolumes is on the way where nothing was assumed of volumes.
	throughVolumes = points("Volumes.RevertAssumedPodVolumes<", "Framework.RunReservePluginsReserve< P", "Framework.RunPermitPlugins< P", "Volumes.AssumePodVolumes< P")
	movesOfPods    = points("Queue.MoveAllToActiveOrBackoffQueue<", "Queue.AssignedPodAdded<", "Queue.AssignedPodUpdated<")
)

// rules is the table. What lies within one lock of upstream's cannot be forced: such a step says so.
var rules = map[string]rule{
	// The scheduling cycle.
	"scheduler.pop":                          {do: pop},
	"scheduler.pop_amid_move":                {do: within("a move of parked pods and the Pop amid it lie within one call, which takes and lets go activeQ's lock")},
	"scheduler.skip":                         {who: isScheduler, ends: cycleEnds, via: points("Cache.IsAssumedPod< P", "Queue.Done< P")},
	"scheduler.take_snapshot":                {who: isScheduler, ends: points("Cache.UpdateSnapshot<"), via: points("Cache.IsAssumedPod< P")},
	"scheduler.filter":                       {do: filter},
	"scheduler.filter_nominated":             {do: filter},
	"scheduler.assume":                       {do: assume},
	"scheduler.start_binding":                {who: isScheduler, ends: points("Queue.DeleteNominatedPodIfExists< P"), settle: launch},
	"scheduler.reserve":                      {do: reserve},
	"scheduler.permit":                       {do: permit},
	"scheduler.forget":                       {who: isScheduler, ends: points("Cache.ForgetPod< P"), via: throughVolumes},
	"scheduler.reread_preemptor":             {do: reread},
	"scheduler.dry_run":                      {do: dryRun},
	"scheduler.choose_candidate":             {do: choose},
	"scheduler.clear_own_nomination":         {who: isScheduler, ends: points("Client.Patch< P")},
	"scheduler.fail_to_clear_own_nomination": {do: failToClear(isScheduler, "pod")},
	"scheduler.evict":                        {do: evictInCycle},
	"scheduler.reject_waiting":               {do: evictInCycle},
	"scheduler.clear_lower_nomination":       {who: isScheduler, ends: points("Client.Patch< O", "Queue.PatchPodStatus< O"), via: points("Queue.NominatedPodsForNode<")},
	"scheduler.fail_to_clear_nomination":     {do: failToClear(isScheduler, "other")},
	"scheduler.fail":                         {do: fail},

	// The cycle of a group.
	"pod_group_cycle.gather":        {who: isScheduler, ends: points("Queue.PopSpecificPod>", "Cache.IsAssumedPod>", "Queue.Done>", "FailureHandler>"), via: points("Cache.PodGroupStates<")},
	"pod_group_cycle.pop_member":    {do: popMember},
	"pod_group_cycle.take_snapshot": {do: lookAtGroup},
	"pod_group_cycle.ask_permit":    {who: isScheduler, ends: points("Framework.RunPermitPlugins< P"), via: points("Queue.Activate<")},
	"pod_group_cycle.revert":        {do: revert},
	"pod_group_cycle.submit":        {who: isScheduler, ends: points("Cache.AssumePod< P", "FailureHandler> P"), via: append(points("Queue.Done<", "Client.Patch<", "FailureHandler<", "Framework.RunPlacementScorePlugins<"), betweenGroups...)},
	"pod_group_cycle.enter":         {who: isScheduler, ends: points("Framework.RunPlacementFeasiblePlugins<")},
	"pod_group_cycle.weigh":         {do: weigh},
	"pod_group_cycle.pick":          {do: pickGroup},
	"pod_group_cycle.preempt":       {do: preemptGroup},
	"pod_group_cycle.reprieve":      {who: isScheduler, ends: points("FailureHandler>"), via: append(points("Framework.RunFilterPluginsWithNominatedPods<", "Queue.NominatedPodsForNode<", "Framework.RunPlacementScorePlugins<"), betweenGroups...)},
	"pod_group_cycle.finish":        {who: isScheduler, ends: points("Queue.AddAttemptedPodGroupIfNeeded<"), via: points("Queue.Done<", "Client.Patch<", "FailureHandler<")},
	"gang_scheduling.permit":        {do: permitGang},
	"gang_scheduling.unreserve":     {who: isUnreserving, ends: points("Cache.ForgetPod> P", "Claims.MaybeRemoveClaimPendingAllocation>", "Claims.RemoveClaimPendingAllocation>"), via: points("Framework.RunReservePluginsReserve< P", "Framework.RunPermitPlugins< P", "Framework.RunReservePluginsUnreserve<")},
	"gang_scheduling.tell_queue":    {who: isGroupHandler, ends: append(points("Queue.AddPodGroup<", "Queue.AddGenericPodGroup<"), movesOfPods...), via: points("Cache.AddPodGroup<", "Cache.AddGenericPodGroup<")},
	"gang_scheduling.move_for":      {who: isGroupHandler, ends: movesOfPods},
	"pod_groups.create_group":       {do: createGroup},
	"pod_groups.store_group":        {do: storeGroup},

	// The binding cycle.
	"binding.announce":         {do: announce},
	"binding.fail_to_announce": {do: announce},
	"binding.fail_pre_flight":  {do: failPreFlight},
	"binding.wait_on_permit":   {do: func(p *player, s Step) error { return p.bindingStands(s) }},
	"binding.pre_bind":         {do: preBind},
	"binding.stop_pre_bind":    {who: isBinding, ends: givesBack, via: points("Framework.RunPreBindPlugins< P")},
	"binding.bind":             {do: bind},
	"binding.finish":           {do: finish},
	"binding.queue_binding":    {do: queueBinding},
	"binding.forget":           {who: isBinding, ends: points("Cache.ForgetPod< P"), via: throughVolumes},
	"binding.wake_queue":       {who: isBinding, ends: movesOfPods},
	"binding.fail":             {who: isBindingThatFails, ends: points("FailureHandler> P")},

	// The failure handler.
	"failure.check_node":       {who: isFailing, ends: points("Client.GetNode< N"), via: points("FailureHandler< P")},
	"failure.remove_node":      {who: isFailing, ends: points("Cache.RemoveNode< N")},
	"failure.read":             {who: isFailing, ends: points("Queue.AddUnschedulableIfNotPresent> S", "Queue.AddNominatedPod> S", "Queue.Done> P"), via: points("FailureHandler< P"), settle: leaveToNamesake},
	"failure.requeue":          {who: isFailing, ends: points("Queue.AddUnschedulableIfNotPresent< S")},
	"failure.requeue_too_soon": {do: within("the requeue and the Pop amid it lie within one call, which takes and lets go activeQ's lock")},
	"failure.nominate":         {who: isFailing, ends: points("Queue.AddNominatedPod< S"), via: points("FailureHandler< P")},
	"failure.patch":            {do: patch},
	"failure.lose_patch":       {do: patch},
	"failure.wake_others":      {who: isFailing, ends: movesOfPods, settle: runOut(isFailing)},

	// The goroutine that evicts.
	"async_preemption.begin":                    {who: isPreempting, ends: points("Queue.NominatedPodsForNode< N")},
	"async_preemption.begin_for_group":          {do: beginForGroup},
	"async_preemption.clear_nomination":         {who: isPreempting, ends: points("Client.Patch< O", "Queue.PatchPodStatus< O")},
	"async_preemption.fail_to_clear_nomination": {do: failToClear(isPreempting, "other")},
	"async_preemption.evict":                    {do: evict},
	"async_preemption.leave":                    {do: leave},
	"async_preemption.evict_last":               {do: evictLast},
	"async_preemption.fail_to_evict_last":       {do: evictLast},
	"async_preemption.leave_last":               {who: isPreempting, ends: points("Queue.Activate>"), gone: true},
	"async_preemption.activate":                 {who: isPreempting, ends: points("Queue.Activate<"), settle: runOut(isPreempting)},

	// The dispatcher of API calls.
	"api_dispatcher.execute":    {do: executeCall},
	"api_dispatcher.patch":      {do: sendPatch},
	"api_dispatcher.lose_patch": {do: sendPatch},
	"api_dispatcher.finalize":   {do: finalizeCall},

	// Event handlers.
	"handlers.handle_for_queue":      {do: handleForQueue},
	"handlers.add_member":            {do: goOn(isQueueHandler, points("Queue.Add< P"))},
	"handlers.wake_for_member":       {do: goOn(isQueueHandler, movesOfPods)},
	"handlers.remove_member":         {do: goOn(isQueueHandler, points("Cache.RemovePodGroupMember< P"))},
	"handlers.look_whether_assumed":  {do: goOn(isQueueHandler, points("Cache.IsAssumedPod< P"))},
	"handlers.fetch_assumed":         {do: goOn(isQueueHandler, points("Cache.GetPod< P"))},
	"handlers.reject_waiting":        {do: goOn(isQueueHandler, points("Framework.RejectWaitingPod< P"))},
	"handlers.forget_assumed":        {do: goOn(isQueueHandler, points("Cache.ForgetPod< P"))},
	"handlers.wake_queue_for_room":   {do: goOn(isQueueHandler, movesOfPods)},
	"handlers.update_queue":          {do: goOn(isQueueHandler, points("Queue.Update< P"))},
	"handlers.update_around_pop":     {do: within("the two looks of Update and the Pop between them lie within one call, which takes and lets go activeQ's lock")},
	"handlers.handle_for_cache":      {do: takeEvent(isCacheHandler, podKind, points("Cache.AddPod< P", "Cache.UpdatePod< P", "Cache.RemovePod< P"), nil)},
	"handlers.wake_queue":            {do: wakeForPod},
	"handlers.handle_swap_for_queue": {do: swapInQueue},
	"handlers.handle_swap_for_cache": {do: swapInCache},
	"handlers.wake_queue_for_swap":   {do: wakeForPod},
	"handlers.learn_of_condition":    {do: learnOfCondition},
	"handlers.handle_node":           {do: takeEvent(isNodeHandler, nodeKind, points("Cache.AddNode< N", "Cache.UpdateNode<", "Queue.MoveAllToActiveOrBackoffQueue<", "Cache.RemoveNode< N"), nil)},
	"handlers.remove_node":           {do: goOn(isNodeHandler, points("Cache.RemoveNode< N"))},
	"handlers.wake_queue_for_node":   {do: goOn(isNodeHandler, movesOfPods)},
	"updates.wake_queue":             {do: goOn(isNodeHandler, movesOfPods)},

	// Everybody else.
	"pod_watch.store":                {do: deliver(podKind, "pod")},
	"node_watch.store":               {do: deliver(nodeKind, "node")},
	"users.create_pod":               {do: func(p *player, s Step) error { return p.create(s.arg("pod")) }},
	"stateful_sets.recreate":         {do: recreate},
	"users.create_node":              {do: createNode},
	"users.update_node":              {do: updateNode},
	"users.update_pod":               {do: updatePod},
	"users.remove_gates":             {do: func(p *player, s Step) error { return p.world.Store.OpenGates(s.arg("pod")) }},
	"users.delete_pod":               {do: func(p *player, s Step) error { return p.world.Store.DeletePod(s.arg("pod")) }},
	"users.delete_node":              {do: func(p *player, s Step) error { return p.world.Store.DeleteNode(s.arg("node")) }},
	"users.bind_pod":                 {do: func(p *player, s Step) error { return p.world.Store.Bind(s.arg("pod"), s.arg("node")) }},
	"kubelet.admit":                  {do: admit},
	"kubelet.reject":                 {do: reject},
	"kubelet.stop":                   {do: stop},
	"kubelet.report_finished":        {do: end((*Store).FinishPod)},
	"users.delete_finished_pod":      {do: func(p *player, s Step) error { return p.world.Store.DeletePod(s.arg("pod")) }},
	"kubelet.finish_termination":     {do: end((*Store).RemovePod)},
	"finalizer_owners.release":       {do: func(p *player, s Step) error { return p.world.Store.RemovePod(s.arg("pod")) }},
	"finalizer_owners.release_bound": {do: releaseBound},
	"pod_gc.collect":                 {do: func(p *player, s Step) error { return p.world.Store.RemovePod(s.arg("pod")) }},
	"budgets.evict":                  {do: evictByAPI},
	"budgets.finish_eviction":        {do: finishEviction},
	"budgets.count_anew":             {do: countAnew},
	"budgets.get_ready":              {do: setReadiness(v1.ConditionTrue)},
	"budgets.lose_readiness":         {do: setReadiness(v1.ConditionFalse)},
	"budgets.start":                  {do: startPod},
	"budgets.fail_to_start":          {do: elsewhere},
	"budgets.mend":                   {do: elsewhere},
	"budgets.store":                  {do: storeBudget},
	"budgets.hear":                   {do: elsewhere},
	"budgets.count_by_view":          {do: countByView},
	"budgets.write_status":           {do: writeStatus},
	"autoscaler.find_empty":          {do: findEmpty},
	"autoscaler.put_taint":           {do: putTaint},
	"autoscaler.look_again":          {do: lookAgain},
	"autoscaler.make_node":           {do: makeNode},
	"autoscaler.take_away":           {do: takeAway},
	"autoscaler.spare":               {do: spare},
	"drain.find_movable":             {do: findMovable},
	"drain.evict":                    {do: evictFromNode},
	"drain.miss":                     {do: missEvicted},
	"drain.give_up":                  {do: giveUp},
	"pod_watch.resume":               {do: expire(podKind)},
	"node_watch.resume":              {do: expire(nodeKind)},
	"process.restart":                {do: restart},
	"process.change_leader":          {do: changeLeader},
	"process.land":                   {do: land},
	"queue.flush_backoff":            {do: flush("BACKOFF")},
	"queue.flush_unschedulable":      {do: flush("UNSCHEDULABLE")},
	"waiting.permit":                 {do: decide},
	"waiting.refuse":                 {do: decide},

	// Those who own pods, those who have them evicted, and another scheduler.
	"controllers.hear":          {do: elsewhere},
	"controllers.restart":       {do: elsewhere},
	"controllers.create":        {do: createOwned},
	"controllers.delete":        {do: deleteOwned},
	"controllers.delete_ended":  {do: deleteOwned},
	"controllers.collect_ended": {do: deleteOwned},
	"gate_keepers.direct":       {do: direct},
	"gate_keepers.let_go":       {do: letGo},
	"gate_keepers.remove":       {do: letGo},
	"descheduler.choose":        {do: elsewhere},
	"descheduler.evict":         {do: evictOwned},
	"other_scheduler.hear":      {do: elsewhere},
	"other_scheduler.assume":    {do: assumeForeign},
	"other_scheduler.bind":      {do: bindForeign},

	// Those who look after nodes, and what becomes of the pods there.
	"node_lifecycle.cut_off":         {do: elsewhere},
	"node_lifecycle.come_back":       {do: elsewhere},
	"node_lifecycle.sicken":          {do: elsewhere},
	"node_lifecycle.recover":         {do: elsewhere},
	"node_lifecycle.hear":            {do: elsewhere},
	"node_lifecycle.look_at_update":  {do: elsewhere},
	"node_lifecycle.monitor":         {do: elsewhere},
	"node_lifecycle.take_from_queue": {do: elsewhere},
	"node_lifecycle.halt":            {do: elsewhere},
	"node_lifecycle.go_on":           {do: elsewhere},
	"node_lifecycle.report":          {do: writeNode(writesStatus)},
	"node_lifecycle.write_status":    {do: writeNode(writesStatus)},
	"node_lifecycle.add_taints":      {do: writeNode(addsTaints)},
	"node_lifecycle.remove_taints":   {do: writeNode(removesTaints)},
	"node_lifecycle.take_back":       {do: writeNode(removesTaints)},
	"kubelet.allocate":               {do: elsewhere},
	"kubelet.begin_to_end":           {do: elsewhere},
	"kubelet.end_rejected":           {do: elsewhere},
	"kubelet.refuse":                 {do: refuse},
	"pod_gc.collect_from_dead_node":  {do: func(p *player, s Step) error { return p.world.Store.RemovePod(s.arg("pod")) }},
	"taint_eviction.hear_of_node":    {do: elsewhere},
	"taint_eviction.hear_of_pod":     {do: elsewhere},
	"taint_eviction.handle_pod":      {do: elsewhere},
	"taint_eviction.begin":           {do: elsewhere},
	"taint_eviction.delete":          {do: deleteByName},
	"taint_eviction.end":             {do: elsewhere},
}

// elsewhere is for steps of somebody else's that change nothing but what that one knows and plans: no object, and so nothing for the scheduler.
func elsewhere(*player, Step) error { return nil }

// within is for steps that lie within one lock.
func within(why string) func(*player, Step) error {
	return func(*player, Step) error { return fmt.Errorf("%s", why) }
}
