// SPDX-License-Identifier: Apache-2.0
/** Where executed code reads memory: addresses as sums of the registers before and behind a block. */
package io.kiln.cycles.address;
