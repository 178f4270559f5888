// SPDX-License-Identifier: Apache-2.0
/** Which line of which source an address of an image comes from, by its DWARF line tables. */
package io.kiln.firmware.dwarf;
