/* commit.py by hand: a process for each actor, with as many states and transitions. */
#define N 6
mtype = { working, prepared, committed, aborted, undecided }
mtype doing[N] = working; bool up[N] = true; bool heard[N]; bool sent[N]; mtype tm = undecided; byte nheard;
active [N] proctype rm() {
  do
  :: d_step { tm == undecided && sent[_pid] && !heard[_pid] -> heard[_pid] = true; nheard++ }
  :: d_step { doing[_pid] == working && up[_pid] -> doing[_pid] = prepared; sent[_pid] = true }
  :: d_step { doing[_pid] == working && up[_pid] -> doing[_pid] = aborted }
  :: d_step { tm != undecided && up[_pid] && doing[_pid] != committed && doing[_pid] != aborted -> if :: tm == committed -> doing[_pid] = committed :: else -> doing[_pid] = aborted fi }
  :: d_step { up[_pid] -> up[_pid] = false }
  :: d_step { !up[_pid] -> up[_pid] = true; if :: doing[_pid] == working -> doing[_pid] = aborted :: else fi }
  od
}
active proctype coordinator() {
  do
  :: d_step { tm == undecided && nheard == N -> tm = committed }
  :: d_step { tm == undecided -> tm = aborted }
  od
}
