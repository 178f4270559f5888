// SPDX-License-Identifier: Apache-2.0
/** Kernels of operators that move elements. */
package io.kiln.reference.movement;
