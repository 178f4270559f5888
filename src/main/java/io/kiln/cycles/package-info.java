// SPDX-License-Identifier: Apache-2.0
/**
 * Estimated cycles: from an image, how often each of its blocks was executed, and the published timings of a core, to a range of
 * cycles. See {@link io.kiln.cycles.CycleEstimator}.
 */
package io.kiln.cycles;
