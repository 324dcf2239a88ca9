/* raft.py by hand: a process for each actor, with as many states and transitions. */
#define N 3
#define TERMS 3
#define nothing 0
#define askvote 1
#define vote 2
#define appendm 3
#define follower 0
#define candidate 1
#define leader 2
typedef Msg { byte kind; byte term; byte last; bool yes };
typedef Row { Msg to[N] };
typedef Votes { bool from[N] };
byte role[N]; byte term[N]; byte voted[N]; Votes votes[N]; byte entry[N]; Row net[N];
hidden byte t; hidden byte l; hidden byte y; hidden byte k; hidden byte grant;
inline clear(w) { votes[w].from[0] = false; votes[w].from[1] = false; votes[w].from[2] = false }
#define OTHER(d) ((_pid+d)%N)
active [N] proctype server() {
  do
  :: d_step { role[_pid] != leader && term[_pid] < TERMS -> term[_pid]++; role[_pid] = candidate; voted[_pid] = _pid+1; clear(_pid); votes[_pid].from[_pid] = true }
#define PAIR(d) \
  :: d_step { role[_pid] == candidate && !votes[_pid].from[OTHER(d)] && net[_pid].to[OTHER(d)].kind == nothing -> net[_pid].to[OTHER(d)].kind = askvote; net[_pid].to[OTHER(d)].term = term[_pid]; net[_pid].to[OTHER(d)].last = entry[_pid] } \
  :: d_step { net[OTHER(d)].to[_pid].kind != nothing && (net[OTHER(d)].to[_pid].kind != askvote || net[_pid].to[OTHER(d)].kind == nothing) -> \
     k = net[OTHER(d)].to[_pid].kind; t = net[OTHER(d)].to[_pid].term; l = net[OTHER(d)].to[_pid].last; y = net[OTHER(d)].to[_pid].yes; \
     if :: t > term[_pid] -> term[_pid] = t; role[_pid] = follower; voted[_pid] = 0; clear(_pid) :: else fi; \
     if :: k == askvote -> grant = (t == term[_pid] && l >= entry[_pid] && (voted[_pid] == 0 || voted[_pid] == OTHER(d)+1)); \
           if :: grant -> voted[_pid] = OTHER(d)+1 :: else fi; \
           net[_pid].to[OTHER(d)].kind = vote; net[_pid].to[OTHER(d)].term = term[_pid]; net[_pid].to[OTHER(d)].yes = grant \
        :: else fi; \
     if :: k == vote && t == term[_pid] && y && role[_pid] == candidate -> votes[_pid].from[OTHER(d)] = true :: else fi; \
     if :: k == appendm && t == term[_pid] -> role[_pid] = follower; entry[_pid] = l :: else fi; \
     net[OTHER(d)].to[_pid].kind = 0; net[OTHER(d)].to[_pid].term = 0; net[OTHER(d)].to[_pid].last = 0; net[OTHER(d)].to[_pid].yes = 0; k=0; t=0; l=0; y=0; grant=0 } \
  :: d_step { role[_pid] == leader && entry[_pid] > 0 && net[_pid].to[OTHER(d)].kind == nothing && entry[OTHER(d)] != entry[_pid] -> net[_pid].to[OTHER(d)].kind = appendm; net[_pid].to[OTHER(d)].term = term[_pid]; net[_pid].to[OTHER(d)].last = entry[_pid] } \
  :: d_step { net[_pid].to[OTHER(d)].kind != nothing -> net[_pid].to[OTHER(d)].kind = 0; net[_pid].to[OTHER(d)].term = 0; net[_pid].to[OTHER(d)].last = 0; net[_pid].to[OTHER(d)].yes = 0 }
  PAIR(1)
  PAIR(2)
  :: d_step { role[_pid] == candidate && (votes[_pid].from[0] + votes[_pid].from[1] + votes[_pid].from[2])*2 > N -> role[_pid] = leader }
  :: d_step { role[_pid] == leader && entry[_pid] == 0 -> entry[_pid] = term[_pid] }
  od
}
