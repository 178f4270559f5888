// SPDX-License-Identifier: Apache-2.0
/** Factors between layers that make the channels of a float network alike, so that one scale suits all of them. */
package io.kiln.quantize.equalize;
