/* token_ring.py by hand: a process for each actor, with as many states and transitions. */
#define N 7
#define K 8
#define FAULTS 4
byte x[N]; byte faults;
active [N] proctype station() {
  do
  :: d_step { _pid == 0 && x[0] == x[N-1] -> x[0] = (x[0] + 1) % K }
  :: d_step { _pid != 0 && x[_pid] != x[_pid-1] -> x[_pid] = x[_pid-1] }
#define C(v) :: d_step { x[_pid] != v && faults < FAULTS -> x[_pid] = v; faults++ }
  C(0) C(1) C(2) C(3) C(4) C(5) C(6) C(7)
  od
}
