/*
 * Cars.
 *
 * At a light.
 */

/* Light */
#define Light_RED 0
#define Light_GREEN 1
/* ref Car */
#define Car_none 0
#define Car_a_1 1
#define Car_b 2
/* Division rounds down. */
#define floor_div(a, b) ((a) >= 0 -> (a) / (b) : -((-1 - (a)) / (b)) - 1)

bit light_now = Light_RED;  /* light.now */
unsigned queue_1 : 2 = Car_a_1;  /* queue[1] */
unsigned queue_1_2 : 2 = Car_b;  /* queue.1 */
bool horn = false;
short balance = -3;

hidden int let_1;

/* invariant: S-HORN */
#define S_HORN (!horn)
/* invariant: 2nd */
#define invariant_2nd (balance < 3)
/* witness: b first */
#define b_first (queue_1 == Car_b)

active proctype system() {
  do

  /* cars.swap(car=a-1, light=GREEN): The cars change places * / at once. */
  :: d_step {
       ( light_now == Light_GREEN
         && queue_1 != Car_none
         && balance < 3  /* constraint: at most 3 */
       ) ->
       balance = balance + 1;
       let_1 = queue_1_2;
       queue_1_2 = queue_1;
       queue_1 = let_1;
     }

  /* lights.switch() */
  :: d_step {
       ( true
       ) ->
       balance = ((floor_div(balance, 2) < -1) -> (floor_div(balance, 2) + 1) : floor_div(balance, 2));
       horn = ((light_now == Light_GREEN) || horn);
       light_now = ((light_now == Light_GREEN) -> Light_RED : Light_GREEN);
     }
  :: d_step { !S_HORN -> assert(false) }
  :: d_step { !invariant_2nd -> assert(false) }
  od
}
