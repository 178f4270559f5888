// SPDX-License-Identifier: Apache-2.0
/** Kernels of operators that copy elements. */
package io.kiln.reference.movement;
