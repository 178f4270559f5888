// SPDX-License-Identifier: Apache-2.0
/** Lowering of operators that call functions. */
package io.kiln.lower.call;
