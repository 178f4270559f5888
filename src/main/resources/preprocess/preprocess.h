#ifndef @M@_H_
#define @M@_H_

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * From audio to the input of the model @MODEL@: @ROWS@.
 *
 * A whole recording:
 *   @P@_run(&state, samples, input);
 *
 * Samples as they come, in blocks of any size:
 *   while (count != 0) {
 *     uint32_t taken = @P@_feed(&state, samples, count);
 *     samples += taken;
 *     count -= taken;
 *     if (@P@_next(&state, row)) { ... a row is ready ... }
 *   }
 */
#define @M@_SAMPLE_RATE @RATE@
#define @M@_WINDOW @WINDOW@
#define @M@_HOP @HOP@
#define @M@_FRAMES @FRAMES@
#define @M@_FEATURES @FEATURES@

/* Samples behind one input of the model. */
#define @M@_SAMPLES @SAMPLES@

/* Bytes of the state. */
#define @M@_STATE_SIZE @STATE_SIZE@

/* What is kept between calls, and the memory of a frame; the caller owns it. */
struct @P@ {
  union {
    int32_t bins[@BIN_NUMBERS@];
    uint64_t spectrum[@BINS@];
  } work;
@CHANNEL_MEMBER@  uint32_t filled;
@SKIP_MEMBER@  int16_t samples[@WINDOW@];
@PREVIOUS_MEMBER@};

/* Begins with silence. */
void @P@_init(struct @P@* state);

/* Takes samples until a frame is whole, and returns how many it took. */
uint32_t @P@_feed(struct @P@* state, const int16_t* samples, uint32_t count);

/* If a frame is whole: writes its row of features and returns 1. Otherwise returns 0. */
int32_t @P@_next(struct @P@* state, @TYPE@* row);

/* Fills the model's input from so many samples as it takes. */
void @P@_run(struct @P@* state, const int16_t* samples, @TYPE@* input);

#ifdef __cplusplus
}
#endif

#endif
