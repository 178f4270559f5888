// SPDX-License-Identifier: Apache-2.0
package io.kiln.farm.desk;

/**
 * A worker, or one of its boards, that gets no jobs.
 *
 * @param unit {@code WORKER}, or {@code WORKER/PROBE}
 * @param since in ISO form
 * @param isQuarantine whether the farm decided it, rather than somebody
 * @param reason why
 */
public record Hold(String unit, String since, boolean isQuarantine, String reason) {}
