/* SPDX-License-Identifier: Apache-2.0
 *
 * The application "mlperf-tiny": the serial protocol of the benchmark MLPerf Tiny. A host sends commands that end with '%'; each is answered
 * with lines, the last of which is "m-ready". Its parts, so that the protocol can be tested on any computer:
 *
 *   kiln_mlperf_protocol.c   commands and answers; it calls the next three parts and nothing else
 *   kiln_mlperf_text.c       texts and numbers on the line
 *   kiln_mlperf_data.c       bytes that the host loads, to the model's input and back from its output
 *   kiln_mlperf_board.c      the board: console, time and pin
 *   main.c                   passes characters on
 *
 * In the streaming benchmark kiln_mlperf_stream.c is there too: it hears chunks of samples, and runs the model on each row of features.
 * In a project with a main of its own, kiln_th.h and kiln_th.c take the place of protocol and main: there the parts have the names of the
 * benchmark's own interface.
 */
#ifndef KILN_MLPERF_H_
#define KILN_MLPERF_H_

#include <stdint.h>

#include "kiln_mlperf_model.h"

/* The most characters of a command. */
#ifdef KILN_MLPERF_STREAM
#define KILN_MLPERF_COMMAND 1028u
#else
#define KILN_MLPERF_COMMAND 80u
#endif

/* What is answered to "name" and "profile". */
extern const char kiln_mlperf_vendor[];
extern const char kiln_mlperf_benchmark[];

/* The protocol: begins with the boot lines, then takes one character after the other. */
void kiln_mlperf_begin(void);
void kiln_mlperf_accept(uint8_t character);

/* The board: starts the clock or sets the pin. */
void kiln_mlperf_begin_time(void);

/* Sends a character, takes those that have come, tells whether one is waiting, and waits for one: negative when the line has ended. */
void kiln_mlperf_put(uint8_t character);
void kiln_mlperf_take(void);
int kiln_mlperf_is_waiting(void);
int kiln_mlperf_get(void);

/* The mode of the board, as in "m-timestamp-mode-performance". */
extern const char kiln_mlperf_mode[];

/* Marks a moment: microseconds since the start, or a pulse on the pin and a negative number. */
int64_t kiln_mlperf_mark(void);

/* Called after each inference, so that a counter of few bits does not run over unseen. 0 if it did. */
int kiln_mlperf_keep_time(void);

/* The data: the most bytes that the host may load, the bytes of one element, and elements that the model wants. */
extern const uint32_t kiln_mlperf_bytes;
extern const uint32_t kiln_mlperf_element;
extern const uint32_t kiln_mlperf_elements;

/* Stores a loaded byte, or reads it back. */
void kiln_mlperf_store(uint32_t at, uint8_t byte);
uint8_t kiln_mlperf_loaded(uint32_t at);

/* Makes the model's input of the loaded bytes. */
void kiln_mlperf_convert(void);

/* Runs the model; 0 if it went well. */
int32_t kiln_mlperf_run(void);

/* Sends the results, with a comma between them, with three decimals. */
void kiln_mlperf_results(void);

/* Sends a text, a number, or a number of thousandths with its decimals. */
void kiln_mlperf_put_text(const char* text);
void kiln_mlperf_put_number(uint64_t number);
void kiln_mlperf_put_integer(int32_t number);
void kiln_mlperf_put_thousandths(uint64_t thousandths, int is_negative);

#ifdef KILN_MLPERF_STREAM
/* Begins to listen, with no sound before; ends it, and sends what the model said to each row since, to the last thousand of them. */
void kiln_mlperf_start(void);
void kiln_mlperf_stop(void);

/* Hears the samples that the host loaded. Sends the moments before and behind it, the features of the last row and the model's answer. */
void kiln_mlperf_extract(void);

/* Hears what the microphone has; 0 if nothing comes before the next command. */
int kiln_mlperf_hear(void);

/* These three are yours to define. The first takes the next KILN_MLPERF_BYTES / 2 samples, 16,000 a second: 1 with samples, 0 if they
 * are not there yet, a negative number without a microphone. The others set pins for a measuring device: a low pulse at the first row and at
 * each one with the word, and high while samples are processed. [default: no microphone, no pins] */
int kiln_mlperf_listen(int16_t* samples);
void kiln_mlperf_detected(void);
void kiln_mlperf_processing(int is_busy);
#endif

#endif
