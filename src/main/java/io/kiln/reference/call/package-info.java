// SPDX-License-Identifier: Apache-2.0
/** Kernels of operators that call functions. */
package io.kiln.reference.call;
