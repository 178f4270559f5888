/* SPDX-License-Identifier: Apache-2.0 */
int extra(void);

int extra(void) { return 1; }
