/* stack.py by hand: a process for each actor, with as many states and transitions. Nodes are 1 and 2, and 0 is none. */
#define T 3
#define TAGS 4
byte top = 1, tag, below_1 = 2, below_2;
byte at[T], mine[T], seen[T], seen_tag[T], then[T];
#define SAME (top == seen[_pid] && tag == seen_tag[_pid])
#define FORGET seen[_pid] = 0; seen_tag[_pid] = 0; then[_pid] = 0; at[_pid] = 0
active [T] proctype thread() {
  do
  :: d_step { at[_pid] == 0 && mine[_pid] == 0 && top != 0 -> seen[_pid] = top; seen_tag[_pid] = tag; at[_pid] = 3 }
  :: d_step { at[_pid] == 3 -> then[_pid] = (seen[_pid] == 1 -> below_1 : (seen[_pid] == 2 -> below_2 : 0)); at[_pid] = 4 }
  :: d_step { at[_pid] == 4 ->
       if :: SAME -> top = then[_pid]; tag = (tag + 1) % TAGS; mine[_pid] = seen[_pid] :: else fi; FORGET }
  :: d_step { at[_pid] == 0 && mine[_pid] != 0 -> seen[_pid] = top; seen_tag[_pid] = tag; at[_pid] = 1 }
  :: d_step { at[_pid] == 1 -> if :: mine[_pid] == 1 -> below_1 = seen[_pid] :: else -> below_2 = seen[_pid] fi; at[_pid] = 2 }
  :: d_step { at[_pid] == 2 ->
       if :: SAME -> top = mine[_pid]; tag = (tag + 1) % TAGS; mine[_pid] = 0 :: else fi; FORGET }
  od
}
