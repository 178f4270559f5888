// SPDX-License-Identifier: Apache-2.0
/**
 * From fused operators of the graph to loop nests: the computation, the epilogue, and operators with a single schedule.
 */
package io.kiln.lower;
