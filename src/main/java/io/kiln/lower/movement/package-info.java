// SPDX-License-Identifier: Apache-2.0
/** Lowering of operators that copy elements. */
package io.kiln.lower.movement;
