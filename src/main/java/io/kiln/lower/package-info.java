// SPDX-License-Identifier: Apache-2.0
/** From fused operators of the graph to loop nests: what is computed, the epilogue, and operators with one obvious nest. */
package io.kiln.lower;
