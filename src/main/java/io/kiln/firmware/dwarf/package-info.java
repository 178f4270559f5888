// SPDX-License-Identifier: Apache-2.0
/** Finds the source line of an address in an image, from DWARF line tables. */
package io.kiln.firmware.dwarf;
