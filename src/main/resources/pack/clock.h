
/* What the cycle counter counts in a second: the most that the device takes, unless board.yaml has another timer.hertz. */
#define KILN_CORE_CLOCK @HERTZ@u
