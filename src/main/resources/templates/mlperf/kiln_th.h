/* SPDX-License-Identifier: Apache-2.0
 *
 * The model of this image under the names by which the firmware of MLPerf Tiny calls a submitter's code. A project with a main of its own
 * has them: put the benchmark's files beside that main, or speak its protocol there. All are weak: what your port defines takes their place.
 */
#ifndef KILN_TH_H_
#define KILN_TH_H_

#include <stddef.h>
#include <stdint.h>

/* The benchmark's firmware defines these three. The first copies the loaded bytes, so many at most, and returns how many they are; the second
 * takes a character of the line; the third obeys a command. [default: no bytes; nothing] */
size_t ee_get_buffer(uint8_t* buffer, size_t most);
void ee_serial_callback(char character);
void ee_serial_command_parser_callback(char* command);

/* Makes the model's input of the loaded bytes; says so if they are too many or too few. */
void th_load_tensor(void);

/* Runs the model once. */
void th_infer(void);

/* Prints the line with the results of the last run. */
void th_results(void);

/* Called before and behind the inferences that are measured; they do nothing. */
void th_pre(void);
void th_post(void);

/* Prints a moment in microseconds, or makes a pulse on the pin where energy is measured. */
void th_timestamp(void);

/* Says once which of both it is, and marks the first moment. */
void th_timestamp_initialize(void);

/* Called first and last when the board starts; they do nothing. */
void th_serialport_initialize(void);
void th_final_initialize(void);

/* Passes a command on to the benchmark's firmware. */
void th_command_ready(char volatile* command);

/* As printf: %s %c %d %i %u %x %X %%, with l, and zeros to a width before hexadecimal numbers. */
void th_printf(const char* format, ...);

/* Waits for a character of the line and gives it to ee_serial_callback; 0 when the line has ended. */
int kiln_th_poll(void);

#endif
