/* SPDX-License-Identifier: Apache-2.0 */
#ifndef LED_H_
#define LED_H_

#ifdef __cplusplus
extern "C" {
#endif

/* Switches the board's first LED on or off. */
void led_set(int is_on);

/* Whether it is on. */
int led_is_on(void);

#ifdef __cplusplus
}
#endif

#endif
