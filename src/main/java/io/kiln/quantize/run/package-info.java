// SPDX-License-Identifier: Apache-2.0
/** Runs of a network on samples, in parallel, with results in the samples' order. */
package io.kiln.quantize.run;
