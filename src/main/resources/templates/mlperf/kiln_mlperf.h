/* SPDX-License-Identifier: Apache-2.0
 *
 * The application "mlperf-tiny": the serial protocol of the benchmark MLPerf Tiny. A host sends commands that end with '%'; each is answered
 * with lines, the last of which is "m-ready". Three parts, so that the protocol can be tested on any computer:
 *
 *   kiln_mlperf_protocol.c   commands and answers; it calls the two other parts and nothing else
 *   kiln_mlperf_data.c       bytes that the host loads, to the model's input and back from its output
 *   main.c                   the board: console, time and pin
 */
#ifndef KILN_MLPERF_H_
#define KILN_MLPERF_H_

#include <stdint.h>

/* The most characters of a command. */
#define KILN_MLPERF_COMMAND 80u

/* What is answered to "name" and "profile". */
extern const char kiln_mlperf_vendor[];
extern const char kiln_mlperf_benchmark[];

/* The protocol: begins with the boot lines, then takes one character after the other. */
void kiln_mlperf_begin(void);
void kiln_mlperf_accept(uint8_t character);

/* The board: sends a character. */
void kiln_mlperf_put(uint8_t character);

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

/* Sends a number, or a number of thousandths with its decimals. */
void kiln_mlperf_put_number(uint64_t number);
void kiln_mlperf_put_thousandths(uint64_t thousandths, int is_negative);

#endif
